// The tests of /attachments, with the files in S3; and presigned downloads, which only S3 has.
import '../support/environment.js';
import '../support/s3-environment.js';
import './attachments.test.js';
import test from 'ava';
import { Client } from '../support/client.js';
import { killProcesses, startApi } from '../support/processes.js';

test.after.always(() => killProcesses());

test('downloads redirect to a presigned address when enabled', async (t) => {
  const api = await startApi({ S3_PRESIGNED_DOWNLOADS: 'true' });
  const admin = await new Client(api.url).signIn();
  const { id } = (await admin.upload('/attachments/upload', 'presigned', { filename: 'a b.txt' })).data;
  for (const [path, way] of [
    ['download', 'attachment'],
    ['preview', 'inline'],
  ]) {
    const answer = await fetch(`${api.url}/api/admin/attachments/${id}/${path}`, {
      headers: admin.headers,
      redirect: 'manual',
    });
    t.is(answer.status, 302);
    const file = await fetch(answer.headers.get('Location') ?? '');
    t.is(await file.text(), 'presigned');
    t.is(file.headers.get('Content-Disposition'), `${way}; filename="a b.txt"; filename*=UTF-8''a%20b.txt`);
  }
  // A store refuses HEAD where the address is signed for GET.
  const head = await fetch(`${api.url}/api/admin/attachments/${id}/download`, {
    ...{ method: 'HEAD', headers: admin.headers, redirect: 'manual' },
  });
  t.deepEqual([head.status, head.headers.get('Content-Length')], [200, '9']);
  t.is((await new Client(api.url).download(`/attachments/${id}/download`)).status, 401);
});
