// Second import of a test file whose service has an address that callbacks cannot reach, which is known once it is resolved.
process.env.APP_URL = 'https://localhost:3000';
