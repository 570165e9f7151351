// Second import of a test file in which requests wait for a lock in vain: it ends as soon as in production, and the answer
// comes before a channel gives up.
process.env.DB_LOCK_WAIT_SECONDS = '1';
process.env.CALLBACK_WAIT_MS = '5000';
process.env.CALLBACK_DEADLINE_MS = '7000';
