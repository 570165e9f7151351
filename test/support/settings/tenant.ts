// Second import of a test file whose own service is that of a tenant.
process.env.TENANT_CODE = 'acme';
