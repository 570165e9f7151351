// Second import of a test file whose service asks nobody for a captcha, before the configuration is read.
process.env.CAPTCHA_MODE = 'off';
