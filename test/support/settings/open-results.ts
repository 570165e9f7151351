// Second import of a test file whose companies' callbacks are verified (PAYMENT_CHANNEL_RESULTS).
process.env.PAYMENT_CHANNEL_RESULTS = 'wechat, alipay';
