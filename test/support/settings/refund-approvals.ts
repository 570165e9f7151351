// Second import of a test file in which refunds above 10.00 need approval.
process.env.REFUND_APPROVAL_ABOVE = '10';
