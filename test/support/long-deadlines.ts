// Second import of a test file that does very much at once: how long that takes depends on what else the machine does.
// That a late callback is refused, and a request that finds no connection, is shown elsewhere.
process.env.CALLBACK_DEADLINE_MS = '30000';
process.env.DB_ACQUIRE_TIMEOUT_MS = '30000';
