// The tests of stored-files.test.ts with the files in S3. And presigned downloads, which only S3 has.
import '../support/settings/environment.js';
import '../support/settings/s3-environment.js';
import test from 'ava';
import { startApi } from '../support/processes.js';
import { service } from './stored-files.test.js';

test('downloads redirect to a presigned address when enabled', async (t) => {
  const { url } = await startApi({ S3_PRESIGNED_DOWNLOADS: 'true' });
  const [admin, anonymous] = [service.admin.at(url), service.anonymous.at(url)];
  const { id } = (await admin.upload('/attachments/upload', 'presigned', { filename: 'a b.txt' })).data;
  for (const [path, way] of [
    ['download', 'attachment'],
    ['preview', 'inline'],
  ]) {
    const answer = await fetch(`${url}/api/admin/attachments/${id}/${path}`, {
      headers: admin.headers,
      redirect: 'manual',
    });
    t.is(answer.status, 302);
    const file = await fetch(answer.headers.get('Location') ?? '');
    t.is(await file.text(), 'presigned');
    t.is(file.headers.get('Content-Disposition'), `${way}; filename="a b.txt"; filename*=UTF-8''a%20b.txt`);
  }
  // A store refuses HEAD where the address is signed for GET.
  const head = await fetch(`${url}/api/admin/attachments/${id}/download`, {
    ...{ method: 'HEAD', headers: admin.headers, redirect: 'manual' },
  });
  t.deepEqual([head.status, head.headers.get('Content-Length')], [200, '9']);
  t.is((await anonymous.download(`/attachments/${id}/download`)).status, 401);
});
