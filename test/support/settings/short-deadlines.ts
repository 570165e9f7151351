// Second import of a test file whose requests time out waiting for a lock: as soon as in production, so that the answer
// comes before a channel gives up.
process.env.DB_LOCK_WAIT_SECONDS = '1';
process.env.CALLBACK_WAIT_MS = '5000';
process.env.CALLBACK_DEADLINE_MS = '7000';
