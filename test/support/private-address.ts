// Second import of a test file whose service has an address that callbacks cannot reach.
process.env.APP_URL = 'http://localhost:3000';
