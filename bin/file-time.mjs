// Loaded by AVA before each test file: prints the file and its time, from the first import to the last test.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { registerCompletionHandler } from 'ava';

import { seconds } from './step.mjs';

const startedAt = performance.now();
const name = path.relative('build', fileURLToPath(test.meta.file)).replace(/\.js$/, '.ts');
registerCompletionHandler(() => {
  process.stdout.write(`${name} took ${seconds(performance.now() - startedAt)}\n`);
});
