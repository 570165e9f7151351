// Loaded by AVA before each test file: prints the file and its time, from the first import to the last test, and
// ends a process that open handles keep from exiting.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { registerCompletionHandler } from 'ava';

import { seconds } from './step.mjs';

const ENDED_AFTER_MS = 15_000;

const startedAt = performance.now();
const name = path.relative('', fileURLToPath(test.meta.file));
registerCompletionHandler(() => {
  process.stdout.write(`${name} took ${seconds(performance.now() - startedAt)}\n`);
  setTimeout(() => {
    process.stdout.write(`${name} does not end: ${process.getActiveResourcesInfo().join(', ')}\n`);
    process.exit();
  }, ENDED_AFTER_MS).unref();
});
