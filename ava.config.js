// Test files are compiled with everything else; each gets a thread, a database and a Redis prefix of its own.
// `npm test` runs the suite; the tests in a browser run apart (npm run test:browser).
const suites = {
  main: ['build/test/**/*.test.js', '!build/test/browser/**'],
  browser: ['build/test/browser/**/*.test.js'],
};

export default {
  files: suites[process.env.TEST_SUITE ?? 'main'],
  timeout: '90s',
  concurrency: 2,
  failWithoutAssertions: true,
};
