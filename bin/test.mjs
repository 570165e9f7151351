// `npm test [-- files and AVA options]`: installs what is missing, runs AVA, prints the slowest files and one closing line.
// REPEAT_FAILED_FILES runs failed files once more, alone, and names them; for CI on shared machines.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import { runAva, TEST_LOG } from './ava.mjs';
import { command } from './lifetime.mjs';
import { prepareMachine } from './prepare.mjs';
import { complain, root, say, seconds } from './step.mjs';

const TIME = /^(test\/\S+) took ([\d.]+) s$/;
const SLOWEST = 10;
/** More than these are no accident. */
const MAX_REPEATED = 3;

/** @type {Map<string, number>} */
const times = new Map();

/** @param {string[]} args @returns {Promise<{ passed: number, failed: string[] }>} failed: titles, and what ended the run */
async function run(args) {
  const { passed, failed, code } = await runAva(args, {
    cwd: root,
    env: process.env,
    onLine(line) {
      const [, file, time] = TIME.exec(line) ?? [];
      if (file) times.set(file, Number(time));
      else say(line);
    },
  });
  if (code !== 0 && failed.length === 0) failed.push(`AVA ended with ${code}`);
  return { passed, failed };
}

/** The test file of `room › file › title`; undefined when the title names none. @param {string} title */
function fileOf(title) {
  const words = title.split(' › ');
  const names = words.map((_, last) => `${words.slice(0, last + 1).join('/')}.test.ts`);
  return [...times.keys()].find((file) => names.some((name) => file.endsWith(`/${name}`)));
}

/** Runs the files of failed tests again, one by one. @param {Awaited<ReturnType<typeof run>>} first */
async function repeat(first) {
  const files = [...new Set(first.failed.map(fileOf))];
  if (files.length > MAX_REPEATED) return first;
  for (const file of files) {
    if (file === undefined || (await run([file])).failed.length > 0) return first;
    say(`\nunstable: ${file} failed beside others and passed alone`);
  }
  return { passed: first.passed + first.failed.length, failed: [] };
}

/** Shows what failed, and the answers in the log that no test expects. @param {string[]} failed */
function showFailures(failed) {
  for (const title of failed) say(`failed: ${title}`);
  const file = path.join(root, TEST_LOG);
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  for (const line of lines) if (line.includes('"error_code":"internal_error"')) say(line);
  say(`what the service logged: ${TEST_LOG}`);
}

command(async () => {
  const startedAt = performance.now();
  rmSync(path.join(root, TEST_LOG), { force: true });
  let outcome = { passed: 0, failed: ['not run'] };
  try {
    await prepareMachine();
    outcome = await run(process.argv.slice(2));
    if (outcome.failed.length > 0) showFailures(outcome.failed);
    if (outcome.failed.length > 0 && process.env.REPEAT_FAILED_FILES) outcome = await repeat(outcome);
  } catch (error) {
    complain(error);
  }
  const slowest = [...times].sort(([, one], [, other]) => other - one).slice(0, SLOWEST);
  say(
    `\nslowest files:\n${slowest.map(([file, time]) => `${time.toFixed(2).padStart(8)} s  ${file}`).join('\n')}`,
  );
  say(`ran for ${seconds(performance.now() - startedAt)}`);
  say(`${outcome.passed} passed, ${outcome.failed.length} failed`); // the form that CI reads
  return outcome.failed.length === 0 && outcome.passed > 0 ? 0 : 1;
});
