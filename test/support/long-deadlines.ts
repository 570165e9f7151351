// Second import of a test file that does very much at once, or counts what a late answer of Redis would count apart: how
// long that takes depends on what else the machine does. What happens to the late is shown elsewhere.
process.env.CALLBACK_DEADLINE_MS = '30000';
process.env.CALLBACK_WAIT_MS = '10000';
process.env.DB_ACQUIRE_TIMEOUT_MS = '30000';
process.env.REDIS_TIMEOUT_MS = '5000';
