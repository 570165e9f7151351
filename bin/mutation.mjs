// `npm run test:mutation [-- subjects]`: plants one fault after the other (test/mutation/) in a copy of the build and runs the
// tests that must catch it. Exit code 1 when more than one in twenty survives.
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

import { runAva } from './ava.mjs';
import { command } from './lifetime.mjs';
import { lastLines } from './process.mjs';
import { Failure, note, root, say, seconds, step } from './step.mjs';
import { compiledName, prepare, SIGNAL_EXIT_CODES, testEnvironment } from './prepare.mjs';

const LEAST_KILLED = 0.95;
/** So many faults are tried at a time. */
const LANES = 2;
/** A fault may make a test wait for what never comes. */
const PATIENCE = '60s';
const FAILURES = new Set([
  ...['test-failed', 'hook-failed', 'timeout'],
  ...['uncaught-exception', 'unhandled-rejection', 'process-exit'],
]);

async function main() {
  const startedAt = performance.now();
  const env = testEnvironment(await prepare({ durable: false }));
  const faults = await chosenFaults(process.argv.slice(2));
  const lanes = Array.from({ length: LANES }, (_, lane) => makeLane(env, lane));
  await step(() => passUnharmed(faults, lanes[0]));
  const waiting = [...faults];
  let killed = 0;
  const work = async (lane) => {
    for (let fault = waiting.shift(); fault; fault = waiting.shift()) {
      const begun = performance.now();
      const catcher = await planted(fault, lane, () => failureOf([fault], lane));
      if (catcher) killed++;
      const time = seconds(performance.now() - begun).padStart(8);
      const { subject, file, breaks } = fault;
      const by = catcher ? ` (${catcher})` : '';
      say(`${catcher ? 'killed  ' : 'survived'} ${time}  ${subject}, ${path.basename(file)}: ${breaks}${by}`);
    }
  };
  await Promise.all(lanes.map(work));
  say(`\nran for ${seconds(performance.now() - startedAt)}`);
  say(`${faults.length} planted, ${killed} killed, ${faults.length - killed} survived`);
  return killed >= faults.length * LEAST_KILLED ? 0 : 1;
}

/** Those of the subjects asked for, or whose file or description holds the word; all by default. */
async function chosenFaults(words) {
  const { faults } = await import(path.join(root, 'build/test/mutation/index.js'));
  const chosen = faults.filter(
    ({ subject, file, breaks }) =>
      words.length === 0 || words.some((word) => subject === word || `${file} ${breaks}`.includes(word)),
  );
  if (chosen.length > 0) return chosen;
  const subjects = [...new Set(faults.map(({ subject }) => subject))];
  throw new Failure(`no such fault; the subjects are ${subjects.join(', ')}`);
}

// A copy of the checkout, of which only the build is not the same files. What its tests leave running is known by its home.
function makeLane(env, lane) {
  const tree = path.join(env.THROW_AWAY_HOME, `lane-${lane}`);
  mkdirSync(tree);
  cpSync(path.join(root, 'build'), path.join(tree, 'build'), { recursive: true });
  for (const name of readdirSync(root).filter((entry) => !['build', '.git', '.local'].includes(entry)))
    symlinkSync(path.join(root, name), path.join(tree, name));
  return { tree, env: { ...env, THROW_AWAY_HOME: tree } };
}

/** A test that fails without a fault as well proves nothing. */
async function passUnharmed(faults, lane) {
  note('running the same tests without a fault');
  // Titles choose tests in all files of a run, so files of which every test is wanted have a run of their own.
  const isWhole = ({ test }) => faults.some((one) => one.test === test && !one.match);
  const kinds = new Map();
  for (const fault of faults) {
    const kind = `${suiteOf(fault.test)} ${isWhole(fault)}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), fault]);
  }
  for (const kind of kinds.values()) {
    const failed = await failureOf(kind, lane);
    if (failed) throw new Failure(`“${failed}” fails without any fault`);
  }
  return 'they pass without a fault';
}

const suiteOf = (test) => (test.startsWith('test/faults/') ? 'faults' : 'main');

/** Runs the tests that these faults name, all of one suite. @returns the first one that fails, if any */
async function failureOf(faults, { tree, env }) {
  const files = [...new Set(faults.map(({ test }) => compiledName(test)))];
  const titles = faults.every(({ match }) => match) ? [...new Set(faults.map(({ match }) => match))] : [];
  const args = [
    '--fail-fast',
    '--timeout',
    PATIENCE,
    ...files,
    ...titles.flatMap((title) => ['--match', title]),
  ];
  const lines = [];
  let failed;
  const { code } = await runAva(args, {
    ...{ cwd: tree, env: { ...env, TEST_SUITE: suiteOf(faults[0].test) } },
    onLine: (line) => lines.push(line),
    onEvent({ type, title }) {
      if (FAILURES.has(type)) failed ??= title ?? type;
    },
  });
  if (code !== 0 && !failed) throw new Failure(`tests did not run: ${lastLines(lines.join('\n'))}`);
  return failed;
}

/** Does the work while the fault is in the copy of the build. */
async function planted({ file, from, to }, { tree }, work) {
  const source = readFileSync(path.join(root, file), 'utf8');
  if (source.split(from).length !== 2) throw new Failure(`not exactly once in ${file}: ${from}`);
  const output = path.join(tree, 'build', file.replace(/\.ts$/, '.js'));
  const original = readFileSync(output);
  writeFileSync(
    output,
    compiled(
      source.replace(from, () => to),
      file,
    ),
  );
  try {
    return await work();
  } finally {
    writeFileSync(output, original);
  }
}

// One file by itself, as the project compiles it.
function compiled(source, fileName) {
  const { compilerOptions } = ts.readConfigFile(path.join(root, 'tsconfig.json'), ts.sys.readFile).config;
  const { target, experimentalDecorators, useDefineForClassFields } = compilerOptions;
  const { outputText, diagnostics } = ts.transpileModule(source, {
    ...{ fileName, reportDiagnostics: true },
    compilerOptions: { target, experimentalDecorators, useDefineForClassFields, module: 'ESNext' },
  });
  if (diagnostics.length === 0) return outputText;
  const text = ts.flattenDiagnosticMessageText(diagnostics[0].messageText, '\n');
  throw new Failure(`a fault in ${fileName} does not compile: ${text}`);
}

command(main, (signal) => SIGNAL_EXIT_CODES[signal]);
