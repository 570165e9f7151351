// Loaded by AVA before each test file: prints the file and its time, from the first import to the last test, and
// open handles that keep it from exiting.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { registerCompletionHandler } from 'ava';

import { seconds } from './step.mjs';

/** What keeps a thread that long after its last test was not closed: it is told and ended, for it would hold up the run. */
const TOLD_AFTER_MS = 15_000;

const startedAt = performance.now();
const name = path.relative('build', fileURLToPath(test.meta.file)).replace(/\.js$/, '.ts');
registerCompletionHandler(() => {
  process.stdout.write(`${name} took ${seconds(performance.now() - startedAt)}\n`);
  const tell = () => {
    process.stdout.write(`${name} does not end: ${process.getActiveResourcesInfo().join(', ')}\n`);
    process.exit();
  };
  setTimeout(tell, TOLD_AFTER_MS).unref();
});
