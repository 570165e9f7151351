// The settings in which the command line differs from the service; imported first, before the configuration is read.

// Its output is the outcome; the log only if it is asked for.
process.env.LOG_LEVEL = process.argv.includes('--log') ? 'info' : 'silent';
// A person waits longer than a request.
process.env.REDIS_TIMEOUT_MS = '5000';
