// Test files are compiled with everything else; each gets a thread, a database and a Redis prefix of its own.
export default {
  files: ['build/test/**/*.test.js'],
  timeout: '90s',
  concurrency: 2,
  failWithoutAssertions: true,
};
