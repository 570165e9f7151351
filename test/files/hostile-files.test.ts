// What hostile clients send as files, forms and connections: no 5xx, nothing left behind, no descriptor or memory lost.
import '../support/settings/environment.js';
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { config } from '../../config/index.js';
import { select } from '../../src/lib/database/db.js';
import { outcome, Client, type Answer } from '../support/client.js';
import { signedInWith } from '../support/factories.js';
import { gif, jpeg, pdf, png, sendChunk, textOf, zipOf } from '../support/files.js';
import { startApi, type TestProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { until } from '../support/until.js';
import { reset } from '../support/reset.js';

let api: TestProcess;
/** One whose files may have 1 MiB, in the tests that need it. */
let cramped: TestProcess;
let admin: Client;

const limits = {
  ...{ UPLOAD_MAX_MB: '4', UPLOAD_TIMEOUT_SECONDS: '6', CALLBACK_DEADLINE_MS: '1500' },
  CHUNK_SESSIONS_MAX: '3',
};
const mebibyte = 1024 * 1024;

processesTest();

test.before(async () => {
  api = await startApi(limits);
  admin = await new Client(api.url).signIn();
});

const filesIn = (name: string): string[] => {
  const folder = join(config.storage.root, name);
  return existsSync(folder) ? readdirSync(folder) : [];
};

const isClean = (): boolean => [...filesIn('incoming'), ...filesIn('partial')].length === 0;

const descriptors = (): string[] => {
  const folder = `/proc/${api.child.pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(join(folder, name))];
    } catch {
      return [];
    }
  });
};

const openFiles = (): string[] => descriptors().filter((target) => target.startsWith(config.storage.root));

const residentMiB = (): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${api.child.pid}/status`, 'utf8'))?.[1]) / 1024;

const upload = (content: string | Uint8Array, filename: string): Promise<Answer> =>
  admin.upload('/attachments/upload', content, { filename });

/** Somebody who has uploaded nothing yet. */
const newcomer = (): Promise<Client> => signedInWith(admin, ['attachment.store', 'attachment.destroy']);

interface RawAnswer {
  status: number;
  text: string;
}

/** Opens a connection and sends the head of a multipart upload. */
async function dial(headers: string[] = [], path = '/api/admin/attachments/upload'): Promise<Socket> {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const common = ['Host: localhost', `Authorization: ${admin.headers.Authorization}`];
  socket.write([`POST ${path} HTTP/1.1`, ...common, ...headers, '', ''].join('\r\n'));
  return socket;
}

/** Everything the server says until it closes the connection or has answered. */
function answerOf(socket: Socket): Promise<RawAnswer> {
  return new Promise((resolve) => {
    let text = '';
    const done = (): void => resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text });
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString();
      if (/\r\n\r\n\{.*\}$/s.test(text)) done();
    });
    socket.on('close', done);
  });
}

const formType = 'Content-Type: multipart/form-data; boundary=B';
const fileHead = '--B\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n';

/** Sends a whole body. */
async function send(body: string | Buffer, headers = [formType]): Promise<RawAnswer> {
  const socket = await dial([...headers, `Content-Length: ${Buffer.byteLength(body)}`]);
  socket.write(body);
  const answer = await answerOf(socket);
  socket.destroy();
  return answer;
}

test.serial('markup, scripts and programs are refused under every name', async (t) => {
  const html = '<!DOCTYPE html><html><script>alert(1)</script></html>';
  const svg = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>';
  const elf = Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01'), Buffer.alloc(100)]);
  const exe = Buffer.concat([Buffer.from('MZ'), Buffer.alloc(200)]);
  const refused: [string | Uint8Array, string][] = [
    ...[
      'html',
      'HTM',
      'xhtml',
      'svg',
      'SvG',
      'xml',
      'js',
      'mjs',
      'sh',
      'bat',
      'exe',
      'php',
      'phtml',
      'jar',
      'svgz',
    ].map((extension): [string, string] => ['text', `a.${extension}`]),
    ...['txt', 'csv', 'png', 'jpg', 'pdf', 'mp4', 'zip', 'docx', 'php.jpg'].flatMap(
      (extension): [string | Uint8Array, string][] =>
        [html, svg, '#!/bin/sh\nrm -rf /', '<?php system($_GET[0]);', elf, exe].map((content) => [
          content,
          `a.${extension}`,
        ]),
    ),
    ['\ufeff \r\n\t<html>', 'a.txt'],
    ['<!-- --><svg onload=x>', 'a.csv'],
    ['a\0b', 'a.txt'],
    [Buffer.from([0xff, 0xfe, 0x41, 0x00]), 'a.txt'],
    [Buffer.from([0x81]), 'a.txt'],
    [Buffer.concat([gif.subarray(0, 13), Buffer.from(`/*${html}*/`)]), 'a.gif'],
    [png, 'a.jpg'],
    [jpeg, 'a.png'],
    [pdf, 'a.docx'],
    [zipOf({ 'a.txt': 'x' }), 'a.docx'],
    [textOf(100), 'none'],
    [textOf(100), '.txt'],
    [textOf(100), 'a.txt\0.exe'],
    [textOf(100), 'a.exe. .'],
    [textOf(100), `${'x'.repeat(300)}.txt`],
    [textOf(100), '..'],
  ];
  for (const [content, name] of refused) {
    const { status, code, text } = await upload(content, name);
    t.deepEqual(
      [status, code],
      [422, 40005],
      `${JSON.stringify(name)} ${content.slice(0, 20).toString()} ${text}`,
    );
  }
  t.deepEqual(await select('SELECT id FROM attachments'), []);
  t.deepEqual(await select('SELECT storage_key FROM stored_files'), []);
  t.true(isClean());
});

test.serial('names cannot escape their folder, break headers or mislead readers', async (t) => {
  const names: [string, string][] = [
    ['../../../etc/passwd.txt', 'passwd.txt'],
    ['..\\..\\windows\\a.txt', 'a.txt'],
    ['a\r\nSet-Cookie: x=y\r\n.txt', 'aSet-Cookie: x=y.txt'],
    ['\u202etxt.gpj.txt', 'txt.gpj.txt'],
    ['a"b;c%22\'.txt', 'a"b;c"\'.txt'],
    ['<script>alert(1).txt', '<script>alert(1).txt'],
    ['茶'.repeat(251) + '.txt', '茶'.repeat(251) + '.txt'],
  ];
  for (const [given, kept] of names) {
    const { data, text } = await upload('text', given);
    t.is(data?.filename, kept, text);
    const { status, headers } = await admin.download(`/attachments/${data.id}/preview`);
    t.is(status, 200);
    t.is(headers.get('Set-Cookie'), null);
    t.regex(
      headers.get('Content-Disposition') ?? '',
      /^inline; filename="[^"\\\r\n]*"; filename\*=UTF-8''[\w.%~!-]+$/,
    );
  }
});

test.serial('malformed, oversized or truncated forms are refused', async (t) => {
  const part = (name: string, value = 'x'): string =>
    `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const many = Array.from({ length: 10_000 }, (_, index) => part(`f${index}`)).join('');
  const files = Array.from({ length: 1000 }, () => `${fileHead}x\r\n`).join('');
  const refused: [string, string | Buffer, string[], number[]][] = [
    ['10,000 fields', `${many}--B--`, [formType], [413]],
    ['1,000 files', `${files}--B--`, [formType], [413]],
    ['a field of 1 MiB', `${part('type', 'x'.repeat(mebibyte))}--B--`, [formType], [413]],
    [
      'a file under another name',
      `${fileHead.replace('"file"', '"x"')}${'x'.repeat(200_000)}\r\n--B--`,
      [formType],
      [413],
    ],
    ['no boundary', `${fileHead}x\r\n--B--`, ['Content-Type: multipart/form-data'], [400]],
    ['another boundary', `${fileHead}x\r\n--B--`, ['Content-Type: multipart/form-data; boundary=C'], [400]],
    ['multipart/mixed', `${fileHead}x\r\n--B--`, ['Content-Type: multipart/mixed; boundary=B'], [400]],
    ['truncated in a part', `${fileHead}x`, [formType], [400]],
    ['truncated in a head', '--B\r\nContent-Disp', [formType], [400]],
    ['empty', '', [formType], [400]],
    ['a head of 1 MiB', `--B\r\nX: ${'x'.repeat(mebibyte)}\r\n\r\nx\r\n--B--`, [formType], [400]],
    [
      'a name of 60 KiB',
      `--B\r\nContent-Disposition: form-data; name="${'x'.repeat(60_000)}"\r\n\r\n`,
      [formType],
      [400],
    ],
    ['a part without a name', '--B\r\nContent-Disposition: form-data\r\n\r\nx\r\n--B--', [formType], [400]],
    [
      'an encoded part',
      `${fileHead.replace('\r\n\r\n', '\r\nContent-Transfer-Encoding: base64\r\n\r\n')}eA==\r\n--B--`,
      [formType],
      [400],
    ],
    [
      'an odd encoding of a field',
      '--B\r\nContent-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: 7bit\r\n\r\nx\r\n--B--',
      [formType],
      [400],
    ],
    ['gzip', `${fileHead}x\r\n--B--`, [formType, 'Content-Encoding: gzip'], [415]],
    ['JSON in place of a form', '{}', ['Content-Type: application/json'], [400]],
    [
      'a prototype as a field',
      `${part('__proto__')}${part('constructor')}${fileHead}x\r\n--B--`,
      [formType],
      [200],
    ],
  ];
  for (const [what, body, headers, statuses] of refused) {
    const { status, text } = await send(body, headers);
    t.true(statuses.includes(status), `${what}: ${text.slice(0, 400)}`);
  }
  const absurd = await dial([`X-Long: ${'x'.repeat(20_000)}`]);
  t.is((await answerOf(absurd)).status, 431);
  t.true(isClean());
});

test.serial('a body over the limit is answered at once', async (t) => {
  const announced = await dial([formType, `Content-Length: ${100 * mebibyte}`]);
  const early = await answerOf(announced);
  t.is(early.status, 413);
  t.regex(early.text, /"error_code":"payload_too_large"/);
  announced.destroy();

  const endless = await dial([formType, 'Transfer-Encoding: chunked']);
  const piece = `10000\r\n${'x'.repeat(65_536)}\r\n`;
  const head = fileHead;
  endless.write(`${head.length.toString(16)}\r\n${head}\r\n`);
  const answered = answerOf(endless);
  let isAnswered = false;
  void answered.then(() => (isAnswered = true));
  while (!isAnswered) if (!endless.write(piece)) await once(endless, 'drain');
  const { status, text } = await answered;
  t.deepEqual([status, JSON.parse(text.slice(text.indexOf('{'))).code], [413, 413], text.slice(0, 300));
  endless.destroy();
  await until(isClean);
});

test.serial('a request that arrives too slowly is ended', async (t) => {
  const slow = async (headers: string[], path: string, begin: string): Promise<RawAnswer> => {
    const socket = await dial([...headers, 'Content-Length: 60000'], path);
    socket.write(begin);
    const drip = setInterval(() => socket.write('x'), 200);
    const answer = await answerOf(socket);
    clearInterval(drip);
    socket.destroy();
    return answer;
  };
  const answers = await Promise.all([
    slow(['Content-Type: application/json'], '/api/payment/notify/mock', '{"out_trade_no":"'),
    slow([formType], '/api/admin/attachments/upload', fileHead),
  ]);
  t.deepEqual(
    answers.map(({ status }) => status),
    [408, 408],
  );
  t.regex(answers[0].text, /"error_code":"request_timeout"/, 'the deadline of its route');
  await until(isClean);
});

test.serial('aborted uploads leak no file, descriptor or memory', async (t) => {
  const body = Buffer.concat([Buffer.from(fileHead), Buffer.alloc(3 * mebibyte, 'x')]);
  const round = async (index: number): Promise<void> => {
    const socket = await dial([formType, `Content-Length: ${3 * mebibyte}`]);
    // Some end within the head of the part, some within its content, some before the file is made.
    socket.write(
      body.subarray(0, [10, fileHead.length, fileHead.length + 1, 70_000, 2 * mebibyte][index % 5]),
    );
    if (index % 3 > 0) await sleep(index % 7);
    if (index % 2 === 0) socket.destroy();
    else reset(socket);
  };
  const many = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 20)
      await Promise.all(Array.from({ length: 20 }, (_, one) => round(index + one)));
    await until(() => isClean() && openFiles().length === 0);
  };
  await many(60);
  const before = residentMiB();
  await many(200);
  // The last of them may still be on their way into the service.
  t.is((await upload('text', 'between.txt')).status, 200);
  await until(() => openFiles().length === 0 && filesIn('incoming').length === 0);
  const growth = residentMiB() - before;
  t.true(growth < 64, `memory grew by ${growth} MiB`);
  t.is((await upload('text', 'after.txt')).status, 200);
});

test.serial('aborted downloads leak no descriptor', async (t) => {
  const { id } = (await upload(textOf(3 * mebibyte), 'large.txt')).data;
  for (let round = 0; round < 50; round++) {
    const abort = new AbortController();
    const response = await fetch(`${api.url}/api/admin/attachments/${id}/download`, {
      headers: admin.headers,
      signal: abort.signal,
    });
    if (round % 2 === 0) await response.body?.getReader().read();
    abort.abort();
  }
  await until(() => openFiles().length === 0);
  t.pass();
});

test.serial('a full disk refuses the upload with its own error', async (t) => {
  cramped = await startApi({ ...limits, UPLOAD_QUOTA_MB: '3' }, 1024);
  const caller = (await newcomer()).at(cramped.url);
  const answer = await caller.upload('/attachments/upload', textOf(2 * mebibyte), { filename: 'a.txt' });
  t.deepEqual(outcome(answer), [500, 40005, 'storage_full'], answer.text);
  t.is((await caller.upload('/attachments/upload', textOf(1000), { filename: 'a.txt' })).status, 200);
  t.true(isClean());
  const unowned = await select("SELECT storage_key FROM stored_files WHERE state <> 'kept'");
  t.deepEqual(unowned, []);
});

test.serial('the quota holds under concurrent uploads', async (t) => {
  const caller = (await newcomer()).at(cramped.url);
  const answers = await Promise.all(
    Array.from({ length: 10 }, () =>
      caller.upload('/attachments/upload', textOf(900 * 1024), { filename: 'a.txt' }),
    ),
  );
  const kept = answers.filter(({ status }) => status === 200);
  t.is(kept.length, 3);
  for (const answer of answers.filter(({ status }) => status !== 200))
    t.deepEqual(outcome(answer), [400, 40005, 'upload_quota_exceeded']);
  const chunk = (chunk_id: string, bytes: number) =>
    caller.upload('/attachments/chunk', textOf(bytes), {
      fields: { action: 'upload', chunk_id, chunk_index: 0, total_chunks: 1, filename: 'a.txt' },
    });
  t.is((await chunk('quota-chunk-1', 300 * 1024)).status, 200);
  t.is((await chunk('quota-chunk-2', 300 * 1024)).errorCode, 'upload_quota_exceeded');
  await caller.delete(`/attachments/${kept[0]?.data.id}`);
  t.is((await chunk('quota-chunk-2', 300 * 1024)).status, 200);
  // Sent again, it takes the place of the first one.
  t.is((await chunk('quota-chunk-2', 972 * 1024)).status, 200);
  t.is((await chunk('quota-chunk-2', 973 * 1024)).errorCode, 'upload_quota_exceeded');
  await until(isClean);
});

test.serial('a chunked upload that would exceed the quota is refused before its first chunk', async (t) => {
  const caller = (await newcomer()).at(cramped.url);
  const init = (total_size: number) =>
    caller.post('/attachments/chunk', { action: 'init', filename: 'a.txt', total_size });
  await caller.upload('/attachments/upload', textOf(900 * 1024), { filename: 'a.txt' });
  // As many as may be open: a refused one opens nothing.
  for (let time = 0; time < 3; time++) {
    const answer = await init(3 * mebibyte - 900 * 1024 + 1);
    t.deepEqual(outcome(answer), [400, 40005, 'upload_quota_exceeded']);
    t.deepEqual(Object.keys(answer.errors ?? {}), ['total_size']);
  }
  t.is((await init(3 * mebibyte - 900 * 1024)).status, 200);
});

test.serial('a disk that cannot be written fails the upload', async (t) => {
  const caller = (await newcomer()).at(cramped.url);
  const incoming = join(config.storage.root, 'incoming');
  renameSync(incoming, `${incoming}-away`);
  writeFileSync(incoming, '');
  const answer = await caller.upload('/attachments/upload', 'text', { filename: 'a.txt' });
  rmSync(incoming);
  renameSync(`${incoming}-away`, incoming);
  t.deepEqual(outcome(answer), [500, 40005, 'upload_failed'], answer.text);
  t.false(answer.text.includes('incoming'));
  await cramped.kill();
});

test.serial('the chunk sessions of one administrator are limited', async (t) => {
  const caller = await newcomer();
  const call = (fields: object) => caller.post('/attachments/chunk', fields);
  const init = () => call({ action: 'init', filename: 'a.txt', total_size: 4 });
  const answers = await Promise.all(Array.from({ length: 12 }, init));
  const opened = answers.filter(({ status }) => status === 200).map(({ data }) => data.chunk_id as string);
  t.is(opened.length, 3);
  for (const { status, code, errorCode } of answers.filter((answer) => answer.status !== 200))
    t.deepEqual([status, code, errorCode], [400, 40005, 'chunk_sessions_exhausted']);
  const first = await sendChunk(caller, 'of-its-own', 0, 'text', { total_chunks: 1, filename: 'a.txt' });
  t.is(first.errorCode, 'chunk_sessions_exhausted');
  await call({ action: 'cancel', chunk_id: opened[0] });
  t.is((await init()).status, 200);
  await until(isClean);
});

test.serial('no hostile request causes a server error', async (t) => {
  t.is(api.child.exitCode, null);
  t.is(await api.stop(), 0);
  t.notRegex(api.output(), /"level":"(error|fatal)"|a request failed|unhandledRejection|uncaughtException/);
});
