// docs/security.md names tests, files and settings as its proofs: each of them is there.
import './support/environment.js';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
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

test('every test that is cited is the only one of its file with these words', (t) => {
  t.true(citations.length > 150, `${citations.length} citations`);
  const titles = new Map(citations.map(({ file }) => [file, titlesIn(file)]));
  const wrong = citations.filter(
    ({ file, part }) => titles.get(file)?.filter((title) => title.includes(part)).length !== 1,
  );
  t.deepEqual([...new Set(wrong.map(({ span }) => span))], []);
});

test('every file that is named is there', (t) => {
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(
    ([, path]) => `docs/${path as string}`,
  );
  const paths = spans.filter((span) => /^(src|config|test|docs|bin|bench|\.ci)\/[\w./-]+$/.test(span));
  t.true(links.length > 3 && paths.length > 30);
  t.deepEqual(
    [...links, ...paths].filter((path) => !existsSync(resolve(config.root, path))),
    [],
  );
});

test('every setting that is named is one', (t) => {
  const settings = [...read('.env.example').matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name);
  const named = spans.flatMap((span) => /^([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=\S*)?$/.exec(span)?.[1] ?? []);
  t.true(named.length > 10);
  t.deepEqual(
    named.filter((name) => !settings.includes(name)),
    [],
  );
});

// ASVS 5.0.0 has 70 requirements of level 1 and 183 of level 2.
test('every requirement of levels 1 and 2 has one answer, and those still open are listed', (t) => {
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
