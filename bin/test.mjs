// `npm test [-- files and AVA options]`: build, throw-away MariaDB and Redis, AVA, one closing line.
// REPEAT_FAILED_FILES runs failed files once more, alone, and names them; for CI on shared machines.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import { runAva, TEST_LOG } from './ava.mjs';
import { command } from './lifetime.mjs';
import { compiledName, prepareTests } from './prepare.mjs';
import { complain, root, say, seconds } from './step.mjs';
import { suiteOf } from './suites.mjs';

const PASSED = /^ {2}✔ /;
const FAILED_TEST = /^ {2}✘ \[fail\]: (.+)/;
// The counts of AVA's summary, one per line.
const FAILED =
  /^ {2}(\d+) (?:tests? failed|hooks? failed|unhandled rejections?|uncaught exceptions?|tests? remained pending)/;

/** More than these are no accident. */
const MAX_REPEATED = 3;

/**
 * @param {string[]} args
 * @param {{ env: NodeJS.ProcessEnv, home: string }} prepared
 * @returns {Promise<{ passed: number, failed: number, titles: string[] }>} titles: of the tests and hooks that failed
 */
async function run(args, { env, home }) {
  let passed = 0;
  let failed = 0;
  /** @type {string[]} */
  const titles = [];
  const result = await runAva(args, {
    cwd: root,
    home,
    env,
    onLine(line) {
      const title = FAILED_TEST.exec(line)?.[1];
      if (title) titles.push(title);
      if (PASSED.test(line)) passed++;
      failed += Number(FAILED.exec(line)?.[1] ?? 0);
      say(line);
    },
  });
  if (result !== 0) failed ||= 1; // a file without tests, a process that ended
  return { passed, failed, titles };
}

/** The test file of `room › file › title`; undefined when the title names none. @param {string} title */
function fileOf(title) {
  const words = title.split(' › ');
  const folder = process.env.TEST_SUITE ? `test/${process.env.TEST_SUITE}` : 'test';
  const names = words.map((_, last) => `${folder}/${words.slice(0, last + 1).join('/')}.test.ts`);
  return names.find((name) => existsSync(name));
}

/**
 * @param {Awaited<ReturnType<typeof run>>} first
 * @param {Parameters<typeof run>[1]} prepared
 */
async function repeat(first, prepared) {
  const files = [...new Set(first.titles.map(fileOf))];
  if (first.failed !== first.titles.length || files.length > MAX_REPEATED) return first;
  for (const file of files) {
    if (file === undefined || (await run([compiledName(file)], prepared)).failed > 0) return first;
    say(`\nunstable: ${file} failed beside others and passed alone`);
  }
  return { passed: first.passed + first.failed, failed: 0 };
}

/** Points at the log, and shows the answers in it that no test expects. */
function showLog() {
  const file = path.join(root, TEST_LOG);
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  for (const line of lines) if (line.includes('"error_code":"internal_error"')) say(line);
  say(`what the service logged: ${TEST_LOG}`);
}

async function main() {
  const startedAt = performance.now();
  rmSync(path.join(root, TEST_LOG), { force: true });
  let outcome = { passed: 0, failed: 1 };
  try {
    const suite = suiteOf(process.argv.slice(2));
    if (suite) process.env.TEST_SUITE ??= suite;
    const prepared = await prepareTests();
    const first = await run(process.argv.slice(2).map(compiledName), prepared);
    if (first.failed > 0) showLog();
    const mayRepeat = first.failed > 0 && Boolean(process.env.REPEAT_FAILED_FILES);
    outcome = mayRepeat ? await repeat(first, prepared) : first;
  } catch (error) {
    complain(error);
  }
  say(`\nran for ${seconds(performance.now() - startedAt)}`);
  say(`${outcome.passed} passed, ${outcome.failed} failed`); // the form that CI reads
  return outcome.failed === 0 && outcome.passed > 0 ? 0 : 1;
}

command(main);
