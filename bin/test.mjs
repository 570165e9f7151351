// `npm test [-- files and AVA options]`: build, throw-away MariaDB and Redis, AVA, one closing line.
import { runAva } from './ava.mjs';
import { command } from './lifetime.mjs';
import { compiledName, prepareTests } from './prepare.mjs';
import { complain, root, say, seconds } from './step.mjs';

const PASSED = /^ {2}✔ /;
// What AVA counts in its closing part, a line each.
const FAILED =
  /^ {2}(\d+) (?:tests? failed|hooks? failed|unhandled rejections?|uncaught exceptions?|tests? remained pending)/;

async function main() {
  const startedAt = performance.now();
  let passed = 0;
  let failed = 0;
  try {
    const { env, home } = await prepareTests();
    const result = await runAva(process.argv.slice(2).map(compiledName), {
      cwd: root,
      home,
      env,
      onLine(line) {
        if (PASSED.test(line)) passed++;
        failed += Number(FAILED.exec(line)?.[1] ?? 0);
        say(line);
      },
    });
    if (result !== 0) failed ||= 1; // a file without tests, a process that ended
  } catch (error) {
    complain(error);
    failed ||= 1;
  }
  say(`\nran for ${seconds(performance.now() - startedAt)}`);
  say(`${passed} passed, ${failed} failed`); // the form that CI reads
  return failed === 0 && passed > 0 ? 0 : 1;
}

command(main);
