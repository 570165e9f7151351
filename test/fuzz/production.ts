// The settings of this proof, in this thread as in its processes, so that both know the same document. Imported second.
export const adminPassword = 'fuzz-Password-1';

Object.assign(process.env, {
  NODE_ENV: 'production',
  ADMIN_PASSWORD: adminPassword,
  PASSWORD_CHANGE_REQUIRED: 'false',
  PAYMENT_UNSIGNED_MOCK_ALLOWED: 'false',
  // Nobody outside this machine is asked.
  PAYMENT_GATEWAYS_ENABLED: 'mock',
  DOCS_ENABLED: 'true',
});

/** What only the processes need. */
export const production = { LOG_LEVEL: 'warn' };
