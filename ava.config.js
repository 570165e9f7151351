// Test files are compiled with everything else; each gets a thread, a database and a Redis prefix of its own.
// `npm test` runs the suite. What kills and freezes processes, needs a browser or takes long runs apart (npm run test:faults,
// test:browser, test:long, test:fuzz).
import { basename } from 'node:path';
import { quickStart } from './bin/node-flags.mjs';

const suites = {
  main: [
    'build/test/**/*.test.js',
    ...['faults', 'browser', 'console', 'deploy', 'long', 'fuzz', 'machines'].map(
      (apart) => `!build/test/${apart}/**`,
    ),
  ],
  faults: ['build/test/faults/**/*.test.js'],
  browser: ['build/test/browser/**/*.test.js'],
  console: ['build/test/console/**/*.test.js'],
  deploy: ['build/test/deploy/**/*.test.js'],
  long: ['build/test/long/**/*.test.js'],
  fuzz: ['build/test/fuzz/**/*.test.js'],
  machines: ['build/test/machines/**/*.test.js'],
};
const suite = process.env.TEST_SUITE ?? 'main';

export default {
  files: suites[suite],
  timeout: { long: '30m', deploy: '10m', machines: '5m', console: '10m' }[suite] ?? '90s',
  concurrency: 2,
  failWithoutAssertions: true,
  require: ['./bin/file-time.mjs'],
  // Flags of V8 are of the process, and a thread that is told one does not start.
  filterNodeArgumentsForWorkerThreads: (argument) => !quickStart.includes(argument),
  // Not folder by folder: files that wait for processes to die go together, where others could use the processor.
  sortTestFiles: (one, other) => (basename(one) < basename(other) ? 1 : -1),
};
