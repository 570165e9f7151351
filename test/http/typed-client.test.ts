// For developers of clients: the typed client compiles in strict mode and pays an order, and the signed
// callbacks of the introduction are accepted as printed.
import '../support/shared-environment.js';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { config } from '../../config/index.js';
import { callbackSamples } from '../../src/api/declare/callback-samples.js';
import { select } from '../../src/lib/database/db.js';
import { makeMethod, makePayment } from '../support/factories.js';
import { service } from '../support/shared-service.js';

const run = promisify(execFile);
const source = resolve(config.root, 'clients/typescript');

const document = resolve(config.root, 'build/openapi.json');
let folder: string;

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-'));
  await run('cp', ['-r', join(source, 'src'), join(source, 'examples'), folder]);
  await run('node', [join(source, 'generate.mjs'), document, join(folder, 'src/schema.ts')]);
});

test.after.always(() => rm(folder, { recursive: true }));

test.serial('the typed client compiles under the strictest options', async (t) => {
  t.timeout(180_000);
  await symlink(resolve(config.root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  const options = {
    rootDir: '.',
    outDir: 'out',
    types: ['node'],
    noPropertyAccessFromIndexSignature: false,
  };
  const project = {
    extends: join(source, 'tsconfig.json'),
    compilerOptions: options,
    include: ['src', 'examples'],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(project));
  await run('node', [resolve(config.root, 'node_modules/typescript-7/bin/tsc'), '-p', folder]).catch(
    ({ stdout }: { stdout: string }) => t.fail(stdout),
  );

  const env = { ...process.env, URL: service.url };
  const { stdout } = await run('node', [join(folder, 'out/examples/payment.js')], { env });
  const done = JSON.parse(stdout) as Record<string, string>;
  t.like(done, {
    ...{ callback: 'paid', order: 'paid', attachment: 'receipt of the payment' },
    refusal: 'order_not_cancellable',
  });
  t.true(done.sheet?.includes(done.order_no ?? '?'));
  const [row] = await select<{ status: string }>('SELECT status FROM orders WHERE order_no = ?', [
    done.order_no ?? '',
  ]);
  t.is(row?.status, 'paid');
});

test('every field and parameter of the document has a description and a type', async (t) => {
  const stated: unknown = JSON.parse(await readFile(document, 'utf8'));
  t.deepEqual(
    [...undescribed(stated, '')],
    [],
    'a field of src/api/declare/vocabulary.ts, or .description()',
  );
  t.deepEqual([...unclear(stated, '')], []);
  const types = await readFile(join(folder, 'src/schema.ts'), 'utf8');
  const text = types.replace(/^export type \S+ = Record<string, never>;$/gm, '');
  // Headers of answers are all that openapi-typescript leaves open.
  t.deepEqual(
    text.match(/^(?!\s*\[name: string\]: unknown;$).*(: unknown|Record<string, never>).*$/gm),
    null,
  );
});

type Node = Record<string, unknown>;

function* undescribed(node: unknown, place: string): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  const { properties = {}, name, $ref, description } = node as Node;
  if (typeof name === 'string' && 'in' in node && !$ref && !description) yield `${place}: ${name}`;
  for (const [key, part] of Object.entries(properties as Record<string, Node>))
    if (!part.description) yield `${place}/${key}`;
  for (const [key, part] of Object.entries(node))
    if (key !== 'example' && key !== 'examples') yield* undescribed(part, `${place}/${key}`);
}

/** Fixed values without a type, which many generators leave open, and patterns whose slashes they would escape again. */
function* unclear(node: unknown, place: string): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  const { const: value, enum: values, type, pattern } = node as Node;
  const isFixed = Array.isArray(values) || ['string', 'number', 'boolean'].includes(typeof value);
  if (isFixed && type === undefined) yield place;
  if (typeof pattern === 'string' && pattern.includes('\\/')) yield `${place}: ${pattern}`;
  for (const [key, part] of Object.entries(node))
    if (key !== 'example' && key !== 'examples') yield* unclear(part, `${place}/${key}`);
}

const commands: Record<string, { file: string; command: string }> = {
  sh: { file: 'notify.sh', command: 'bash' },
  js: { file: 'notify.mjs', command: 'node' },
  php: { file: 'notify.php', command: 'php' },
  java: { file: 'Notify.java', command: 'java' },
  python: { file: 'notify.py', command: 'python3' },
};

for (const [language, { file, command }] of Object.entries(commands)) {
  test.serial(
    `the callback of the introduction in ${language} pays, where ${command} is installed`,
    async (t) => {
      t.timeout(60_000);
      const isThere = await run('which', [command]).then(
        () => true,
        () => false,
      );
      t.true(file.length > 0);
      if (!isThere) return t.log(`${command} is not installed`);
      const path = join(folder, file);
      await writeFile(path, callbackSamples[language] ?? '');
      const method = await makeMethod(service.admin, 'a-secret-of-16-and-more');
      const payment = await makePayment(service.admin, method.id);
      const env = {
        ...process.env,
        NOTIFY_URL: `${service.url}/api/payment/notify/mock`,
        ...{ SECRET: 'a-secret-of-16-and-more', PAYMENT_NO: payment.payment_no },
        AMOUNT: Number(payment.amount).toFixed(2),
      };
      const { stdout } = await run(command, [path], { env });
      t.like((JSON.parse(stdout) as { data: object }).data, {
        payment_no: payment.payment_no,
        status: 'paid',
      });
    },
  );
}
