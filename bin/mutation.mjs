// `npm run test:mutation [-- subjects]`: plants one fault after the other (test/mutation/) in a copy of the build and runs the
// tests that must catch it. Exit code 1 when more than one in twenty survives.
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

import { runAva } from './ava.mjs';
import { command, refuseWhenEnding } from './lifetime.mjs';
import { lastLines } from './process.mjs';
import { Failure, note, root, say, seconds, step } from './step.mjs';
import { compiledName, prepareTests, SIGNAL_EXIT_CODES, testEnvironment } from './test-environment.mjs';

const LEAST_KILLED = 0.95;
/** A fault may make a test wait for what never comes. */
const PATIENCE = ['--timeout', '30s'];
const FAILURES = new Set([
  ...['test-failed', 'hook-failed', 'timeout'],
  ...['uncaught-exception', 'unhandled-rejection', 'process-exit'],
]);

async function main() {
  const startedAt = performance.now();
  const env = testEnvironment(await prepareTests());
  const faults = await chosenFaults(process.argv.slice(2));
  const tree = copyTree(path.join(env.THROW_AWAY_HOME, 'tree'));
  await step(() => passUnharmed(faults, tree, env));
  let killed = 0;
  for (const [index, fault] of faults.entries()) {
    refuseWhenEnding();
    const begun = performance.now();
    const catcher = await planted(fault, tree, () => failureOf(testArguments(fault), fault.tests, tree, env));
    if (catcher) killed++;
    const time = seconds(performance.now() - begun).padStart(8);
    const place = `${index + 1}/${faults.length} ${fault.subject}: ${path.basename(fault.file)}, ${fault.breaks}`;
    say(`${catcher ? 'killed  ' : 'SURVIVED'} ${time}  ${place}${catcher ? `; by “${catcher}”` : ''}`);
  }
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

// Only the build is a copy: what a test reads besides it is the same file.
function copyTree(tree) {
  mkdirSync(tree);
  cpSync(path.join(root, 'build'), path.join(tree, 'build'), { recursive: true });
  for (const name of readdirSync(root).filter((entry) => !['build', '.git', '.local'].includes(entry)))
    symlinkSync(path.join(root, name), path.join(tree, name));
  return tree;
}

/** A test that also fails without a fault proves nothing. */
async function passUnharmed(faults, tree, env) {
  const files = [...new Set(faults.flatMap(({ tests }) => tests))];
  note(`running ${files.length} test files without a fault`);
  for (const suite of new Set(files.map(suiteOf))) {
    const own = files.filter((file) => suiteOf(file) === suite);
    const failure = await failureOf(own.map(compiledName), own, tree, env);
    if (failure) throw new Failure(`“${failure}” fails without any fault`);
  }
  return 'they pass without a fault';
}

const suiteOf = (file) => (file.startsWith('test/faults/') ? 'faults' : 'main');

const testArguments = ({ tests, match }) => [
  ...['--fail-fast', ...PATIENCE, ...tests.map(compiledName)],
  ...(match ? ['--match', match] : []),
];

/** The first test that fails, or undefined when all have passed. */
async function failureOf(args, tests, tree, env) {
  const lines = [];
  let failed;
  const { code } = await runAva(args, {
    ...{ cwd: tree, env: { ...env, TEST_SUITE: suiteOf(tests[0]) } },
    onLine: (line) => lines.push(line),
    onEvent({ type, title }) {
      if (FAILURES.has(type)) failed ??= title ?? type;
    },
  });
  if (code !== 0 && !failed) throw new Failure(`tests did not run: ${lastLines(lines.join('\n'))}`);
  return failed;
}

async function planted({ file, from, to }, tree, work) {
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

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(path.join(root, 'tsconfig.json'), ts.sys.readFile).config,
  ts.sys,
  root,
);

function compiled(source, fileName) {
  const { outputText, diagnostics } = ts.transpileModule(source, {
    ...{ fileName, reportDiagnostics: true },
    compilerOptions: { ...options, sourceMap: false },
  });
  if (diagnostics.length > 0)
    throw new Failure(`a fault in ${fileName} does not compile: ${diagnostics[0].messageText}`);
  return outputText;
}

command(main, (signal) => SIGNAL_EXIT_CODES[signal]);
