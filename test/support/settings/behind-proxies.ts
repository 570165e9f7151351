// Second import of a test file whose service is behind up to three proxies and limits captchas, before the configuration is
// read.
Object.assign(process.env, {
  ...{ TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8', TRUSTED_PROXY_HOPS: '3' },
  ...{ LIMITS_ENABLED: 'true', LIMIT_CAPTCHAS: '6' },
});
