// What documents name is there: links, files, commands, settings, errors, and the tests that docs/promises.md and docs/asvs.md
// cite.
import './support/settings/environment.js';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import test from 'ava';
import { config } from '../config/index.js';
import { errorCatalogue } from '../src/lib/errors/catalogue.js';
import type { CatalogueEntry } from '../src/lib/errors/outcomes.js';

const read = (path: string): string => readFileSync(resolve(config.root, path), 'utf8');
const exists = (path: string): boolean => existsSync(resolve(config.root, path));

const markdownIn = (folder: string): string[] =>
  readdirSync(resolve(config.root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));

const documents = ['.', 'docs', 'clients/typescript'].flatMap(markdownIn);

/** What stands between backquotes, and the lines of code blocks. */
function codeIn(document: string): string[] {
  const text = read(document);
  const blocks = [...text.matchAll(/^```.*\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
    block.split('\n'),
  );
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '');
  return [
    ...blocks,
    ...[...prose.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span.replaceAll(/\s+/g, ' ')),
  ];
}

/** Each thing that a document names and that `isThere` does not know. */
const missing = (named: (document: string) => string[], isThere: (name: string) => boolean): string[] =>
  documents.flatMap((document) =>
    named(document)
      .filter((name) => !isThere(name))
      .map((name) => `${document}: ${name}`),
  );

const asvs = read('docs/asvs.md');

/** `http/limits: an address gets so many requests`: a file below test/ and a part of a title in it. */
const citations = codeIn('docs/asvs.md').flatMap((span) => {
  const [, file, part] = /^([a-z0-9/-]+): (.+)$/.exec(span) ?? [];
  return file && part ? [{ span, file: `test/${file}.test.ts`, part }] : [];
});

/** The rows of the requirements: number and answer. */
const rows = [...asvs.matchAll(/^\| (\d+\.\d+\.\d+) \| .+? \| (.+) \|$/gm)].map(
  ([, number, answer]) => ({ number, answer }) as Record<'number' | 'answer', string>,
);

function titlesIn(file: string): string[] {
  if (!exists(file)) return [];
  const calls = read(file).matchAll(/\btest[\w.]*\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gs);
  return [...calls].map(([, , title]) => title as string);
}

test('every cited test exists once', (t) => {
  t.true(citations.length > 80, `${citations.length} citations`);
  const titles = new Map(citations.map(({ file }) => [file, titlesIn(file)]));
  const wrong = citations.filter(
    ({ file, part }) => titles.get(file)?.filter((title) => title.includes(part)).length !== 1,
  );
  t.deepEqual([...new Set(wrong.map(({ span }) => span))], []);
});

test('every linked file and heading exists', (t) => {
  // A heading that occurs again gets a number.
  const anchorsOf = (path: string): string[] => {
    const slugs = [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .trim()
        .replaceAll(' ', '-'),
    );
    return slugs.map((slug, index) => {
      const earlier = slugs.slice(0, index).filter((other) => other === slug).length;
      return earlier === 0 ? slug : `${slug}-${earlier}`;
    });
  };
  const links = (document: string): string[] =>
    [...read(document).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target = '']) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? document : join(dirname(document), path);
      return anchor === undefined ? file : `${file}#${anchor}`;
    });
  const isThere = (target: string): boolean => {
    const [file = '', anchor] = target.split('#');
    return exists(file) && (anchor === undefined || anchorsOf(file).includes(anchor));
  };
  t.true(documents.flatMap(links).length > 40);
  t.deepEqual(missing(links, isThere), []);
});

test('every named file exists', (t) => {
  const files = (document: string): string[] =>
    codeIn(document).filter((code) =>
      /^(?:src|config|test|docs|bin|bench|\.ci)\/[\w./-]+$|^(?:deploy|console|clients)\/[\w./-]*[./]\w*$/.test(
        code,
      ),
    );
  t.true(documents.flatMap(files).length > 60);
  t.deepEqual(missing(files, exists), []);
});

test('every named command exists', (t) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const npm = (document: string): string[] =>
    codeIn(document).flatMap((code) =>
      [...code.matchAll(/\bnpm (?:run (?:-s )?([a-z]+(?::[a-z]+)*)|(start|test)\b)/g)].map(([, one, other]) =>
        String(one ?? other),
      ),
    );
  t.deepEqual(
    missing(npm, (name) => name in scripts),
    [],
  );
  const commands = commandsOfOperators();
  const own = (document: string): string[] =>
    codeIn(document).flatMap((code) => {
      const [, first, second] = /^(?:npx )?back-office ([a-z]+)(?: ([a-z]+))?/.exec(code) ?? [];
      return first === undefined ? [] : [second && commands.has(first) ? `${first} ${second}` : first];
    });
  t.true(documents.flatMap(own).length > 0);
  const isThere = (name: string): boolean => {
    const [first = '', second] = name.split(' ');
    const subcommands = commands.get(first);
    return subcommands !== undefined && (!second || subcommands.size === 0 || subcommands.has(second));
  };
  t.deepEqual(missing(own, isThere), []);
});

/** The commands of `back-office`, each with its subcommands: `admin` → `list`, `create`, … */
function commandsOfOperators(): Map<string, Set<string>> {
  const folder = 'src/api/cli';
  const sources = readdirSync(resolve(config.root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(join(folder, name)));
  const made = sources.flatMap((source) => [...source.matchAll(/(\w+)\s*\.command\('([a-z-]+)/g)]);
  const named = read(join(folder, 'main.ts')).matchAll(/^ {2}([a-z]+): \[/gm);
  const commands = new Map([...named].map(([, name = '']) => [name, new Set<string>()]));
  for (const [, owner = '', name = ''] of made) commands.get(owner)?.add(name);
  return commands;
}

test('every promise names existing proofs', (t) => {
  const promises = [...read('docs/promises.md').matchAll(/^- \*\*(R\d+)\*\* ([\s\S]+?)(?=\n- |\n\n)/gm)];
  t.deepEqual(
    promises.map(([, number]) => number),
    Array.from({ length: 26 }, (_, index) => `R${index + 1}`),
  );
  for (const [, number, text = ''] of promises) {
    const tests = [...text.matchAll(/`([a-z]+(?:\/[a-z0-9-]+)?)`/g)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'paid');
    t.true(tests.length > 0, number);
    for (const name of tests) t.true(exists(`test/${name}.test.ts`), `${number}: ${name}`);
  }
});

test('every named setting exists', (t) => {
  const settings = [...read('.env.example').matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name);
  const named = [...codeIn('docs/security.md'), ...codeIn('docs/asvs.md'), ...codeIn('docs/api.md')].flatMap(
    (span) => /^([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=\S*)?$/.exec(span)?.[1] ?? [],
  );
  t.true(named.length > 40);
  t.deepEqual(
    named.filter((name) => !settings.includes(name)),
    [],
  );
});

test('every error named in docs/api.md has its status and code', (t) => {
  const text = read('docs/api.md');
  const inTable = [...text.matchAll(/^\|[^|]+\| ([\d ·,]+) \| ([\d ·…]+) \| (.+) \|$/gm)].flatMap(
    ([, statuses = '', codes = '', slugs = '']) =>
      [...slugs.matchAll(/[a-z]+(?:_[a-z]+)+/g)].map(([slug]) => ({ slug, statuses, codes })),
  );
  const inProse = [
    ...text.matchAll(/(?<status>\d{3})(?:\/(?<code>\d{5}))? `(?<slug>[a-z]+_[a-z_]+)`/g),
    ...text.matchAll(/`(?<slug>[a-z]+_[a-z_]+)`,\s+(?<status>\d{3})\/(?<code>\d{5})/g),
  ].map(({ groups: { slug = '', status: statuses = '', code: codes = '' } = {} }) => ({
    slug,
    statuses,
    codes,
  }));
  t.true(inTable.length > 15 && inProse.length > 15, `${inTable.length}, ${inProse.length}`);
  const wrong = [...inTable, ...inProse].filter(({ slug, statuses, codes }) => {
    const entry = (errorCatalogue as Record<string, CatalogueEntry | undefined>)[slug];
    const range = (codes.match(/\d+/g) ?? [entry?.code]).map(Number);
    const isWithin = entry && entry.code >= Math.min(...range) && entry.code <= Math.max(...range);
    return !isWithin || !statuses.includes(String(entry.status));
  });
  t.deepEqual(wrong, []);
});

/** The numbers that a text names, alone or as `6.5.2 to 6.5.5`. */
const numbersIn = (text: string): string[] =>
  [...text.matchAll(/(\d+\.\d+)\.(\d+)(?:\sto\s\1\.(\d+))?/g)].flatMap(([, section, first, last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => `${section}.${Number(first) + at}`),
  );

// ASVS 5.0.0 has 70 requirements of level 1 and 183 of level 2; 29 are about OAuth (V10), 7 about WebRTC (V17).
test('every requirement of levels 1 and 2 has one answer', (t) => {
  const numbers = rows.map(({ number }) => number);
  const without = { V10: 29, V17: 7 };
  const [, outside = ''] = /^## Not applicable$([\s\S]*?)^## /m.exec(asvs) ?? [];
  const answered = [...numbers, ...numbersIn(outside)];
  t.deepEqual([answered.length, new Set(answered).size], [253 - without.V10 - without.V17, answered.length]);
  for (const [chapter, count] of Object.entries(without))
    t.regex(asvs, new RegExp(`^## ${chapter} .+\\n\\nNone of the ${count} requirements`, 'm'));
  const weight = (number: string): number =>
    number.split('.').reduce((sum, part) => sum * 100 + Number(part), 0);
  t.deepEqual(
    numbers,
    [...numbers].sort((one, other) => weight(one) - weight(other)),
  );
  for (const { number, answer } of rows) t.regex(answer, /`|\]\(|Open: |Operator: |n\/a: |Code: /, number);
  const open = rows.filter(({ answer }) => answer.includes('Open: ')).map(({ number }) => number);
  const [, list = ''] = /^## Open$([\s\S]*?)^## /m.exec(asvs) ?? [];
  t.deepEqual(
    [...list.matchAll(/^- \*\*([\d., ]+)\*\*/gm)]
      .flatMap(([, given]) => (given as string).split(', '))
      .sort(),
    [...open].sort(),
  );
});

test('every table has its growth and bound in docs/operations.md', (t) => {
  const folder = 'src/models';
  const tables = readdirSync(resolve(config.root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [...read(join(folder, name)).matchAll(/@Table\((?:\{[^}]*?tableName: )?'(\w+)'/g)])
    .map(([, name]) => name as string);
  const [, chapter = ''] = read('docs/operations.md').split(/^#+ What grows.*$/m);
  const [growth = ''] = chapter.split(/^#/m);
  const named = new Set([...growth.matchAll(/`(\w+)`/g)].map(([, name]) => name));
  t.true(tables.length > 30, `${tables.length} tables`);
  t.deepEqual(
    tables.filter((table) => !named.has(table)),
    [],
    'each needs a line below "What grows"',
  );
});
