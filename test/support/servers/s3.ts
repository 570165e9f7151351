// An S3-compatible server in this process (s3rver), with a bucket of its own. What s3rver lacks of multipart uploads is
// added: listing uploads that have not ended, and aborting them.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context, Middleware } from 'koa';
import { freePort } from './free-port.js';

/** The used part of s3rver, which has no types. */
interface S3rverServer {
  run(): Promise<unknown>;
  close(): Promise<void>;
  httpServer: Server;
  middleware: Middleware[];
}

const S3rver = createRequire(import.meta.url)('s3rver') as new (options: object) => S3rverServer;

const queryOf = (ctx: Context): Record<string, string | undefined> =>
  ctx.query as Record<string, string | undefined>;

const bucket = 'files';

export interface S3Server {
  /** Settings that lead a process of the service here. */
  env: Record<string, string>;
  /** Keys of uploads that were begun and have not ended. */
  uploads(): string[];
  /** Requests that this accepts are left without an answer. */
  hold(isHeld: (method: string, url: string) => boolean): void;
  /** The connections of requests that this accepts are cut. */
  cut(isCut: (method: string, url: string) => boolean): void;
  /** How many requests were left without an answer since. */
  held(): number;
  stop(): Promise<void>;
}

/** Settings of a process of the service that lead to the server on that port. */
export const s3Settings = (port: number): Record<string, string> => ({
  STORAGE_DRIVER: 's3',
  S3_ENDPOINT: `http://127.0.0.1:${port}`,
  S3_BUCKET: bucket,
  S3_ACCESS_KEY_ID: 'S3RVER',
  S3_SECRET_ACCESS_KEY: 'S3RVER',
  S3_FORCE_PATH_STYLE: 'true',
});

/** Starts one. */
export async function startS3(wanted?: number): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 's3-'));
  const port = wanted ?? (await freePort());
  const options = { address: '127.0.0.1', port, directory, silent: true, vhostBuckets: false };
  const server = new S3rver({ ...options, configureBuckets: [{ name: bucket }] });
  const uploadsOf = openUploads(join(directory, bucket, '._S3rver_uploads'));
  let isHeld: (method: string, url: string) => boolean = () => false;
  let isCut = isHeld;
  let held = 0;

  const listUploads: Middleware = async (ctx, next) => {
    if (ctx.method !== 'GET' || !('uploads' in ctx.query)) return next();
    const listed = uploadsOf()
      .filter(({ key }) => key.startsWith(queryOf(ctx).prefix ?? ''))
      .map(
        ({ key, id, initiated }) =>
          `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${initiated.toISOString()}</Initiated></Upload>`,
      );
    ctx.type = 'application/xml';
    ctx.body = `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${listed.join('')}</ListMultipartUploadsResult>`;
  };
  const abortUpload: Middleware = async (ctx, next) => {
    const { uploadId } = queryOf(ctx);
    if (ctx.method !== 'DELETE' || !uploadId) return next();
    const upload = uploadsOf().find(({ id }) => id === uploadId);
    if (upload) rmSync(upload.folder, { recursive: true });
    ctx.status = upload ? 204 : 404;
  };
  const leave: Middleware = async (ctx, next) => {
    if (isCut(ctx.method, ctx.url)) ctx.req.destroy();
    else if (!isHeld(ctx.method, ctx.url)) return next();
    else held++;
    ctx.respond = false;
  };
  server.middleware.unshift(leave, listUploads, abortUpload);
  await server.run();
  return {
    env: s3Settings(port),
    uploads: () => uploadsOf().map(({ key }) => key),
    hold(next) {
      isHeld = next;
      held = 0;
    },
    cut(next) {
      isCut = next;
    },
    held: () => held,
    async stop() {
      server.httpServer.closeAllConnections();
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

interface OpenUpload {
  id: string;
  key: string;
  folder: string;
  initiated: Date;
}

// s3rver keeps each upload in a folder of its own until it is completed.
const openUploads = (folder: string) => (): OpenUpload[] => {
  const ids = existsSync(folder) ? readdirSync(folder) : [];
  return ids.flatMap((id) => {
    const [own, named] = [join(folder, id), join(folder, id, 'key')];
    if (!existsSync(named)) return [];
    return { id, key: readFileSync(named, 'utf8'), folder: own, initiated: statSync(own).birthtime };
  });
};
