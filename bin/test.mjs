// `npm test [-- files and AVA options]`: build, throw-away MariaDB and Redis, AVA, one closing line.
import { runAva } from './ava.mjs';
import { command } from './lifetime.mjs';
import { complain, root, say, seconds } from './step.mjs';
import { compiledName, prepare, SIGNAL_EXIT_CODES, testEnvironment } from './prepare.mjs';
import { TestReport } from './test-report.mjs';

async function main() {
  const startedAt = performance.now();
  const report = new TestReport();
  try {
    const env = testEnvironment(await prepare({ durable: false }));
    const { code, signal } = await runAva(process.argv.slice(2).map(compiledName), {
      ...{ cwd: root, env },
      onLine: (line) => report.print(line),
      onEvent: (event) => report.observe(event),
    });
    if (signal) say(`✗ AVA was ended by ${signal}`);
    report.finish(code === 0);
  } catch (error) {
    complain(error);
    report.finish(false);
  }
  say(`\nran for ${seconds(performance.now() - startedAt)}`);
  say(report.summary);
  return report.failed === 0 && report.passed > 0 ? 0 : 1;
}

command(main, (signal) => SIGNAL_EXIT_CODES[signal]);
