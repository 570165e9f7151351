// Second import of a test file whose payment companies are servers of its own on the loopback interface.
process.env.PAYMENT_LOCAL_GATEWAYS_ALLOWED = 'true';
process.env.PAYMENT_GATEWAY_TIMEOUT_MS = '1500';
