// `node test/mutation/run.mjs [subjects]`, the second half of `npm run test:long`: plants one fault after the other
// (test/mutation/) in a copy of the build and runs the tests that must catch it. Exit code 1 when one survives.
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

import { runAva } from '../../bin/ava.mjs';
import { command } from '../../bin/lifetime.mjs';
import { prepareTests } from '../../bin/prepare.mjs';
import { lastLines } from '../../bin/process.mjs';
import { Failure, note, root, say, seconds, step } from '../../bin/step.mjs';
import { endGuests } from '../../bin/throw-away.mjs';

/** So many faults are tried at a time. */
const LANES = 2;
/** A fault may make a test wait for what never comes. */
const TIMEOUT_SECONDS = 60;

/** @typedef {import('./fault.js').Fault & { subject: string }} Fault */
/** A copy of the checkout in which faults are planted. @typedef {{ tree: string, env: NodeJS.ProcessEnv }} Lane */

command(async () => {
  const startedAt = performance.now();
  const { env, home } = await prepareTests();
  const faults = await chosenFaults(process.argv.slice(2));
  const lanes = Array.from({ length: LANES }, (_, index) => makeLane(path.join(home, `lane-${index}`), env));
  await step(() => passUnharmed(faults, lanes));
  const waiting = [...faults];
  let killed = 0;
  await Promise.all(
    lanes.map(async (lane) => {
      for (let fault = waiting.shift(); fault; fault = waiting.shift()) {
        const begun = performance.now();
        const catcher = await failureWith(fault, lane);
        if (catcher) killed++;
        const time = seconds(performance.now() - begun).padStart(8);
        const { subject, file, breaks } = fault;
        const verdict = catcher ? 'killed  ' : 'survived';
        const by = catcher ? ` (${catcher})` : '';
        say(`${verdict} ${time}  ${subject}, ${path.basename(file)}: ${breaks}${by}`);
      }
    }),
  );
  say(`\nran for ${seconds(performance.now() - startedAt)}`);
  say(`${faults.length} planted, ${killed} killed, ${faults.length - killed} survived`);
  return killed === faults.length ? 0 : 1;
});

/** Those of the subjects asked for, or whose file or description holds the word; all by default. @param {string[]} words */
async function chosenFaults(words) {
  /** @type {{ faults: Fault[] }} */
  const { faults } = await import(path.join(root, 'build/test/mutation/index.js'));
  const chosen = faults.filter(
    ({ subject, file, breaks }) =>
      words.length === 0 || words.some((word) => subject === word || `${file} ${breaks}`.includes(word)),
  );
  if (chosen.length > 0) return chosen;
  const subjects = [...new Set(faults.map(({ subject }) => subject))];
  throw new Failure(`no such fault; the subjects are ${subjects.join(', ')}`);
}

// Sources are links, but AVA looks for test files in real folders. Processes that the tests of a lane leave behind are
// identified by its tree.
/** @param {string} tree @param {NodeJS.ProcessEnv} env @returns {Lane} */
function makeLane(tree, env) {
  mkdirSync(tree);
  const copied = ['build', 'test'];
  for (const name of copied) cpSync(path.join(root, name), path.join(tree, name), { recursive: true });
  for (const name of readdirSync(root).filter((entry) => ![...copied, '.git', '.local'].includes(entry)))
    symlinkSync(path.join(root, name), path.join(tree, name));
  return { tree, env: { ...env, THROW_AWAY_HOME: tree } };
}

/** A test that fails without a fault as well proves nothing. @param {Fault[]} faults @param {Lane[]} lanes */
async function passUnharmed(faults, [lane]) {
  note('running the same tests without a fault');
  if (!lane) return 'no lane';
  // --match applies to all files of a run, so files whose tests are all wanted run separately.
  const isWhole = (/** @type {Fault} */ { test }) => faults.some((one) => one.test === test && !one.match);
  for (const kind of [faults.filter(isWhole), faults.filter((fault) => !isWhole(fault))]) {
    const failed = kind.length > 0 && (await failureOf(kind, lane));
    if (failed) throw new Failure(`“${failed}” fails without any fault`);
  }
  return 'they pass without a fault';
}

/**
 * Runs the tests that these faults name.
 *
 * @param {Fault[]} faults
 * @param {Lane} lane
 * @returns {Promise<string | undefined>} the first one that fails, if any
 */
async function failureOf(faults, { tree, env }) {
  const files = [...new Set(faults.map(({ test }) => test))];
  const titles = faults.every(({ match }) => match)
    ? [...new Set(faults.map(({ match }) => `${match}`))]
    : [];
  const matches = titles.flatMap((title) => ['--match', title]);
  /** @type {string[]} */
  const lines = [];
  const begun = performance.now();
  const options = ['--fail-fast', '--timeout', `${TIMEOUT_SECONDS}s`];
  const { code, failed } = await runAva([...options, ...files, ...matches], {
    cwd: tree,
    env,
    onLine: (line) => lines.push(line),
  });
  await endGuests(tree);
  if (code === 0) return undefined;
  if (failed[0]) return failed[0];
  // AVA cannot write a timeout as TAP: it names no test.
  if (performance.now() - begun > TIMEOUT_SECONDS * 1000) return `nothing for ${TIMEOUT_SECONDS} s`;
  throw new Failure(`tests did not run: ${lastLines(lines.join('\n'))}`);
}

/** Plants a fault in the lane's build, for one run. @param {Fault} fault @param {Lane} lane */
async function failureWith(fault, lane) {
  const { file, from, to } = fault;
  const source = readFileSync(path.join(root, file), 'utf8');
  if (source.split(from).length !== 2) throw new Failure(`not exactly once in ${file}: ${from}`);
  const output = path.join(lane.tree, 'build', file.replace(/\.ts$/, '.js'));
  const original = readFileSync(output);
  const harmed = source.replace(from, () => to);
  writeFileSync(output, compiled(harmed, file));
  try {
    return await failureOf([fault], lane);
  } finally {
    writeFileSync(output, original);
  }
}

// Compiles one file with the settings of the project.
/** @param {string} source @param {string} fileName */
function compiled(source, fileName) {
  const settings = ts.readConfigFile(path.join(root, 'tsconfig.json'), ts.sys.readFile).config;
  const { target, experimentalDecorators, useDefineForClassFields } = settings.compilerOptions;
  const { outputText, diagnostics = [] } = ts.transpileModule(source, {
    fileName,
    reportDiagnostics: true,
    compilerOptions: {
      target,
      experimentalDecorators,
      useDefineForClassFields,
      module: ts.ModuleKind.ESNext,
    },
  });
  const [first] = diagnostics;
  if (!first) return outputText;
  const text = ts.flattenDiagnosticMessageText(first.messageText, '\n');
  throw new Failure(`a fault in ${fileName} does not compile: ${text}`);
}
