// Test files are compiled with everything else; each gets a thread, a database and a Redis prefix of its own.
// `npm test` runs the suite; the slower proofs (npm run test:long) and those in a browser (npm run test:browser) run apart.
const suites = {
  main: ['build/test/**/*.test.js', '!build/test/{long,browser}/**'],
  long: ['build/test/long/**/*.test.js'],
  browser: ['build/test/browser/**/*.test.js'],
};

export default {
  files: suites[process.env.TEST_SUITE ?? 'main'],
  timeout: '90s',
  concurrency: 2,
  failWithoutAssertions: true,
};
