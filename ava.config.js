// Test files are compiled with everything else; each gets a thread, a database and a Redis prefix of its own.
import { basename } from 'node:path';
import { quickStart } from './bin/node-flags.mjs';
import { apart } from './bin/suites.mjs';

const suite = process.env.TEST_SUITE;

export default {
  files: suite
    ? [`build/test/${suite}/**/*.test.js`]
    : ['build/test/**/*.test.js', ...apart.map((folder) => `!build/test/${folder}/**`)],
  timeout: { long: '30m', deploy: '10m', machines: '5m', console: '10m' }[suite] ?? '90s',
  concurrency: 2,
  failWithoutAssertions: true,
  require: ['./bin/file-time.mjs'],
  // Flags of V8 are of the process, and a thread that is told one does not start.
  filterNodeArgumentsForWorkerThreads: (argument) => !quickStart.includes(argument),
  // Not folder by folder: files that wait for processes to die go together, where others could use the processor.
  sortTestFiles: (one, other) => (basename(one) < basename(other) ? 1 : -1),
};
