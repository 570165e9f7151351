// Second import of a test file that has companies asked about very many payments.
process.env.PAYMENT_QUERY_PER_SECOND = '200';
