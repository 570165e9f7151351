// What documents name is there: links, files, and in docs/security.md and docs/promises.md tests and settings as proofs.
import './support/environment.js';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import test from 'ava';
import { config } from '../config/index.js';

const read = (path: string): string => readFileSync(resolve(config.root, path), 'utf8');

const text = read('docs/security.md');

const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(([, span]) => span as string);

/** `http/limits: an address gets so many requests`: a file below test/ and a part of a title in it. */
const citations = spans.flatMap((span) => {
  const [, file, part] = /^([a-z0-9/-]+): (.+)$/.exec(span) ?? [];
  return file && part ? [{ span, file: `test/${file}.test.ts`, part }] : [];
});

/** The rows of the requirements: number and answer. */
const rows = [...text.matchAll(/^\| (\d+\.\d+\.\d+) +\| (.+?) +\| (.+?) +\|$/gm)].map(
  ([, number, asks, answer]) => ({ number, asks, answer }) as Record<'number' | 'asks' | 'answer', string>,
);

function titlesIn(file: string): string[] {
  if (!existsSync(resolve(config.root, file))) return [];
  const calls = read(file).matchAll(/\btest[\w.]*\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gs);
  return [...calls].map(([, , title]) => title as string);
}

test('every cited test exists once', (t) => {
  t.true(citations.length > 150, `${citations.length} citations`);
  const titles = new Map(citations.map(({ file }) => [file, titlesIn(file)]));
  const wrong = citations.filter(
    ({ file, part }) => titles.get(file)?.filter((title) => title.includes(part)).length !== 1,
  );
  t.deepEqual([...new Set(wrong.map(({ span }) => span))], []);
});

test('every linked or named file exists', (t) => {
  const documents = [
    ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'],
    ...readdirSync(resolve(config.root, 'docs'))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
  ];
  const named = documents.flatMap((document) => {
    const content = read(document);
    const links = [...content.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, path]) =>
      join(dirname(document), path as string),
    );
    const paths = [...content.matchAll(/`((?:src|config|test|docs|bin|bench|\.ci)\/[\w./-]+)`/g)];
    return [...links, ...paths.map(([, path]) => path as string)].map((path) => ({ document, path }));
  });
  t.true(named.length > 60);
  t.deepEqual(
    named.filter(({ path }) => !existsSync(resolve(config.root, path))),
    [],
  );
});

test('the service uses no retired word of the glossary', (t) => {
  const [, retired = ''] = read('docs/glossary.md').split('## Retired');
  const words = [...retired.matchAll(/^\| ([a-z ]+?) +\| [a-z, ]+?\|$/gm)].map(([, word]) => word as string);
  t.true(words.length > 5);
  const sources = readdirSync(resolve(config.root, 'src'), { recursive: true, encoding: 'utf8' });
  const found = sources
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => {
      const source = read(`src/${name}`);
      return words
        .filter((word) => new RegExp(`\\b${word}\\b`, 'i').test(source))
        .map((word) => `${name}: ${word}`);
    });
  t.deepEqual(found, []);
});

test('every promise names existing proofs', (t) => {
  const promises = [...read('docs/promises.md').matchAll(/^\| (R\d+) +\|.*\| (.+?) +\|$/gm)];
  t.is(promises.length, 25);
  for (const [, number, proof] of promises) {
    const tests = [...(proof as string).matchAll(/`([a-z]+(?:\/[a-z0-9-]+)?)`/g)].map(([, name]) => name);
    t.true(tests.length > 0, number);
    for (const name of tests) t.true(existsSync(resolve(config.root, `test/${name}.test.ts`)), name);
  }
});

test('every named setting exists', (t) => {
  const settings = [...read('.env.example').matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name);
  const named = spans.flatMap((span) => /^([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=\S*)?$/.exec(span)?.[1] ?? []);
  t.true(named.length > 10);
  t.deepEqual(
    named.filter((name) => !settings.includes(name)),
    [],
  );
});

// ASVS 5.0.0 has 70 requirements of level 1 and 183 of level 2.
test('every requirement of levels 1 and 2 has one answer', (t) => {
  const numbers = rows.map(({ number }) => number);
  t.deepEqual([numbers.length, new Set(numbers).size], [253, 253]);
  const weight = (number: string): number =>
    number.split('.').reduce((sum, part) => sum * 100 + Number(part), 0);
  t.deepEqual(
    numbers,
    [...numbers].sort((one, other) => weight(one) - weight(other)),
  );
  for (const { number, answer } of rows)
    t.regex(answer, /`|\]\(|Open: |Operator: |Does not apply: |Built so: /, number);
  const open = rows.filter(({ answer }) => answer.includes('Open: ')).map(({ number }) => number);
  const [, list = ''] = /^### Open$([\s\S]*?)^### /m.exec(text) ?? [];
  t.deepEqual(
    [...list.matchAll(/^- \*\*([\d., ]+)\*\*/gm)]
      .flatMap(([, given]) => (given as string).split(', '))
      .sort(),
    [...open].sort(),
  );
});

test('every table has its growth and bound in docs/operations.md', (t) => {
  const folder = 'src/models/migrations';
  const sources = readdirSync(resolve(config.root, folder)).map((file) => read(join(folder, file)));
  const tables = sources.flatMap((source) =>
    [...source.matchAll(/CREATE TABLE IF NOT EXISTS (\w+)/g)].map(([, name]) => name as string),
  );
  const [, chapter = ''] = read('docs/operations.md').split('## What grows, and until when');
  const named = new Set([...(chapter.split('\n## ')[0] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));
  t.true(tables.length > 30);
  t.deepEqual(
    tables.filter((table) => !named.has(table)),
    [],
  );
});
