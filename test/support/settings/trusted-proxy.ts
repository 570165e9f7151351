// Second import of a test file whose service is behind a trusted proxy: every request may name its own address.
process.env.TRUSTED_PROXIES = '127.0.0.1';
