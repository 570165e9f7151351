// Second import of a test file whose statements wait for each other in one order, or many for one row: a wait that ends by
// itself begins again behind the others.
process.env.DB_LOCK_WAIT_SECONDS = '15';
process.env.DB_STATEMENT_SECONDS = '20';
