// An S3-compatible server in this thread (s3rver), with a bucket of its own; part copies, which s3rver lacks, are added.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './processes.js';

const S3rver = createRequire(import.meta.url)('s3rver') as new (options: object) => any;

export interface S3Server {
  /** Settings that lead a process of the service here. */
  env: Record<string, string>;
  /** How many parts were copied by the server itself. */
  copies(): number;
  stop(): Promise<void>;
}

/** Settings of a process of the service that lead to the server on that port. */
export const s3Settings = (port: number): Record<string, string> => ({
  STORAGE_DRIVER: 's3',
  S3_ENDPOINT: `http://127.0.0.1:${port}`,
  S3_BUCKET: 'files',
  S3_ACCESS_KEY_ID: 'S3RVER',
  S3_SECRET_ACCESS_KEY: 'S3RVER',
  S3_FORCE_PATH_STYLE: 'true',
});

/** Starts one. @param canCopyParts else it answers NotImplemented, as some servers do */
export async function startS3({
  canCopyParts = true,
  port: wanted,
}: { canCopyParts?: boolean; port?: number } = {}): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 's3-'));
  const port = wanted ?? (await freePort());
  const options = { address: '127.0.0.1', port, directory, silent: true, vhostBuckets: false };
  const server = new S3rver({ ...options, configureBuckets: [{ name: 'files' }] });
  let copies = 0;
  if (canCopyParts) {
    server.middleware.unshift(async (ctx: any, next: () => Promise<void>) => {
      const source = ctx.get('x-amz-copy-source').split('/');
      if (ctx.method !== 'PUT' || source.length < 2 || !ctx.query.uploadId) return next();
      const [bucket, ...key] = source;
      const [, target] = ctx.path.split('/');
      const { content } = await server.store.getObject(bucket, key.join('/'));
      const { md5 } = await server.store.putPart(target, ctx.query.uploadId, ctx.query.partNumber, content);
      copies++;
      ctx.type = 'application/xml';
      ctx.body = `<CopyPartResult><ETag>"${md5}"</ETag></CopyPartResult>`;
    });
  }
  await server.run();
  return {
    env: s3Settings(port),
    copies: () => copies,
    async stop() {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
