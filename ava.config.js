// Tests run from their compiled form; each file gets a process, a database and a Redis prefix of its own. `npx ava`
// works by itself: bin/prepare.mjs compiles and starts servers unless settings name them, and ends them with AVA.
import { basename } from 'node:path';
import { testSettings } from './bin/prepare.mjs';

/** Folders that `npm test` leaves to another suite, how long a file may be silent, and how many files run at once. */
const suites = {
  faults: { folders: ['faults', 'operations'], timeout: '90s' },
  // Pages wait for limits, retries and sockets. The long files begin first.
  console: {
    folders: ['console'],
    timeout: '10m',
    concurrency: 4,
    first: ['screens.test.ts', 'everyday.test.ts', 'live.test.ts'],
  },
  machines: { folders: ['machines'], timeout: '5m' },
  long: { folders: ['long', 'fuzz', 'deploy'], timeout: '30m' },
};

/** Also in the main suite, where it sends fewer requests. */
const quick = 'fuzz';

/** The suite of TEST_SUITE, else that of the files asked for; undefined is the main one. */
function chosenSuite() {
  if (process.env.TEST_SUITE) return process.env.TEST_SUITE;
  const asked = process.argv.flatMap((argument) => /^(?:\.\/)?test\/(\w+)\//.exec(argument)?.[1] ?? []);
  return Object.keys(suites).find((name) => suites[name].folders.some((folder) => asked.includes(folder)));
}

export default async () => {
  const suite = chosenSuite();
  const { folders, timeout, concurrency = 3, first = [] } = suites[suite] ?? { timeout: '90s' };
  const others = Object.values(suites)
    .flatMap((one) => one.folders)
    .filter((folder) => folder !== quick);
  return {
    files: folders
      ? folders.map((folder) => `test/${folder}/**/*.test.ts`)
      : ['test/**/*.test.ts', ...others.map((folder) => `!test/${folder}/**`)],
    typescript: {
      rewritePaths: { 'test/': 'build/test/', 'src/': 'build/src/', 'config/': 'build/config/' },
      compile: false,
    },
    environmentVariables: { ...(await testSettings()), TEST_SUITE: suite ?? '' },
    timeout,
    concurrency,
    workerThreads: false, // processes take nine tenths of the time
    failWithoutAssertions: true,
    require: ['./bin/file-time.mjs'],
    // Not folder by folder: files that wait for processes to die go together, where others could use the processor.
    sortTestFiles: (one, other) =>
      first.includes(basename(other)) - first.includes(basename(one)) ||
      (basename(one) < basename(other) ? 1 : -1),
  };
};
