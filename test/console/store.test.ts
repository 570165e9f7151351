// The page beside an object store that answers downloads itself.
import '../support/settings/environment.js';
import test from 'ava';
import type { Service } from '../support/service.js';

// Without S3_ENDPOINT the store is Amazon's, and its name begins with the bucket. Nothing is fetched from it.
Object.assign(process.env, {
  STORAGE_DRIVER: 's3',
  S3_PRESIGNED_DOWNLOADS: 'true',
  S3_REGION: 'eu-central-1',
  S3_BUCKET: 'files-of-the-office',
  S3_ACCESS_KEY_ID: 'key',
  S3_SECRET_ACCESS_KEY: 'secret',
});

let service: Service;

test.before(async () => {
  const { startService } = await import('../support/service.js');
  service = await startService({ withWorker: false });
});

test.after.always(() => service?.stop());

test('the page may follow a download to the store', async (t) => {
  const page = await fetch(`${service.url}/console/`);
  const policy = page.headers.get('content-security-policy') ?? '';
  t.regex(policy, /connect-src 'self' https:\/\/files-of-the-office\.s3\.eu-central-1\.amazonaws\.com;/);
});
