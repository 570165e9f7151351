// Settings of the command line that differ from the service; imported before the configuration.

// Only the result is printed; the log on request.
process.env.LOG_LEVEL = process.argv.includes('--log') ? 'info' : 'silent';
// A person waits longer than a request.
process.env.IS_COMMAND = 'true';
