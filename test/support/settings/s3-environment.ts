// For a test file that stores its files in S3; imported right after environment.ts. The server starts with the tests.
import test from 'ava';
import { likelyPort } from '../servers/free-port.js';
import { s3Settings, startS3, type S3Server } from '../servers/s3.js';

// Chosen at once, because tests must be declared before anything is waited for.
const port = likelyPort();

Object.assign(process.env, s3Settings(port));

let server: S3Server;

/** The server, while tests run. */
export const s3 = (): S3Server => server;

test.before(async () => {
  const { config } = await import('../../../config/index.js');
  if (config.storage.driver !== 's3') throw new Error('the configuration was read before these settings');
  server = await startS3(port);
});

test.after.always(() => server.stop());
