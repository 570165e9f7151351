// Files: storage, upload limits, lifetime of exports.
import { resolve } from 'node:path';
import Joi from 'joi';
import { list, projectRoot, words } from './environment.js';

export interface StorageEnvironment {
  STORAGE_DRIVER: 'local' | 's3';
  STORAGE_ROOT: string;
  S3_ENDPOINT?: string;
  S3_REGION: string;
  S3_BUCKET?: string;
  S3_ACCESS_KEY_ID?: string;
  S3_SECRET_ACCESS_KEY?: string;
  S3_FORCE_PATH_STYLE: boolean;
  S3_PRESIGNED_DOWNLOADS: boolean;
  S3_TIMEOUT_SECONDS: number;
  UPLOAD_MAX_MB: number;
  CHUNK_MAX_MB: number;
  CHUNKED_MAX_MB: number;
  UPLOAD_QUOTA_MB: number;
  UPLOAD_EXTENSIONS: string;
  UPLOAD_TIMEOUT_SECONDS: number;
  CHUNK_SESSION_HOURS: number;
  CHUNK_SESSIONS_MAX: number;
  IMPORT_MAX_MB: number;
  IMPORT_RETENTION_DAYS: number;
  EXPORT_RETENTION_DAYS: number;
  EXPORTS_PER_ADMIN: number;
}

// Raster images, video, audio, documents, archives; nothing a browser would execute.
const extensions =
  'jpg,jpeg,png,gif,webp,bmp,mp4,webm,mov,mp3,pdf,txt,csv,doc,docx,xls,xlsx,ppt,pptx,zip,gz,7z,rar';

const neededByS3 = (schema: Joi.StringSchema) =>
  schema.when('STORAGE_DRIVER', { is: 's3', then: Joi.required() });

export const storageSchema = Joi.object<StorageEnvironment, true>({
  STORAGE_DRIVER: Joi.string()
    .valid('local', 's3')
    .default('local')
    .description('local or s3; s3 as soon as API and worker run on different machines'),
  STORAGE_ROOT: Joi.string()
    .default('storage')
    .description(
      'folder of the local driver and of uploads on their way; relative to the project, absolute in production',
    ),
  S3_ENDPOINT: Joi.string()
    .uri({ scheme: ['http', 'https'] })
    .description('address of an S3-compatible server; AWS when empty'),
  S3_REGION: Joi.string().default('us-east-1').description('region of the bucket'),
  S3_BUCKET: neededByS3(Joi.string()).description('bucket; must exist'),
  S3_ACCESS_KEY_ID: neededByS3(Joi.string()).description('access key'),
  S3_SECRET_ACCESS_KEY: neededByS3(Joi.string()).description('secret key'),
  S3_FORCE_PATH_STYLE: Joi.boolean().default(false).description('bucket in the path, as MinIO wants it'),
  S3_PRESIGNED_DOWNLOADS: Joi.boolean()
    .default(false)
    .description('downloads are redirected to a presigned address instead of passing through the API'),
  S3_TIMEOUT_SECONDS: Joi.number()
    .integer()
    .min(1)
    .default(20)
    .description('a connection to the store on which nothing moves for so long is given up'),
  UPLOAD_MAX_MB: Joi.number().integer().min(1).default(100).description('largest file in one request, MiB'),
  CHUNK_MAX_MB: Joi.number().integer().min(1).default(10).description('largest chunk, MiB'),
  CHUNKED_MAX_MB: Joi.number().integer().min(1).default(5120).description('largest file sent in chunks, MiB'),
  UPLOAD_QUOTA_MB: Joi.number()
    .integer()
    .min(0)
    .default(10_240)
    .description('attachments and unmerged chunks that one administrator may keep, MiB; 0: no limit'),
  UPLOAD_EXTENSIONS: list((word) => /^[a-z0-9]{1,16}$/.test(word))
    .default(extensions)
    .description('extensions that may be uploaded, of those the service can check (docs/operations.md)'),
  UPLOAD_TIMEOUT_SECONDS: Joi.number()
    .integer()
    .min(1)
    .default(900)
    .description('an upload must have arrived within this time'),
  CHUNK_SESSION_HOURS: Joi.number()
    .integer()
    .min(1)
    .default(24)
    .description('unmerged chunks are removed after this long'),
  CHUNK_SESSIONS_MAX: Joi.number()
    .integer()
    .min(0)
    .default(100)
    .description('chunked uploads that one administrator may have open at once; 0: no limit'),
  IMPORT_MAX_MB: Joi.number().integer().min(1).default(200).description('largest file to import, MiB'),
  IMPORT_RETENTION_DAYS: Joi.number()
    .integer()
    .min(1)
    .default(30)
    .description('the failed rows of an import, and the file they are in, are removed after this long'),
  EXPORTS_PER_ADMIN: Joi.number()
    .integer()
    .min(1)
    .default(10)
    .description('exports of one administrator that may wait or run at once'),
  EXPORT_RETENTION_DAYS: Joi.number()
    .integer()
    .min(1)
    .default(7)
    .description('exported files are removed after this long'),
});

const mebibyte = 1024 * 1024;
const hourMs = 3_600_000;

export function storageConfig(env: StorageEnvironment, tenant: string) {
  return {
    driver: env.STORAGE_DRIVER,
    root: resolve(projectRoot, env.STORAGE_ROOT, tenant),
    s3: {
      endpoint: env.S3_ENDPOINT,
      region: env.S3_REGION,
      bucket: env.S3_BUCKET ?? '',
      accessKeyId: env.S3_ACCESS_KEY_ID ?? '',
      secretAccessKey: env.S3_SECRET_ACCESS_KEY ?? '',
      forcePathStyle: env.S3_FORCE_PATH_STYLE,
      presignedDownloads: env.S3_PRESIGNED_DOWNLOADS,
      timeoutMs: env.S3_TIMEOUT_SECONDS * 1000,
      /** Prefix of every key, so that tenants can share a bucket. */
      prefix: tenant ? `${tenant}/` : '',
    },
    uploadMaxBytes: env.UPLOAD_MAX_MB * mebibyte,
    chunkMaxBytes: env.CHUNK_MAX_MB * mebibyte,
    chunkedMaxBytes: env.CHUNKED_MAX_MB * mebibyte,
    /** 0: no limit. */
    quotaBytes: env.UPLOAD_QUOTA_MB * mebibyte,
    extensions: words(env.UPLOAD_EXTENSIONS),
    uploadTimeoutMs: env.UPLOAD_TIMEOUT_SECONDS * 1000,
    /** 0: no limit. */
    chunkSessionsMax: env.CHUNK_SESSIONS_MAX,
    chunkSessionMs: env.CHUNK_SESSION_HOURS * hourMs,
    importMaxBytes: env.IMPORT_MAX_MB * mebibyte,
    importRetentionMs: env.IMPORT_RETENTION_DAYS * 24 * hourMs,
    exportsPerAdmin: env.EXPORTS_PER_ADMIN,
    exportRetentionMs: env.EXPORT_RETENTION_DAYS * 24 * hourMs,
  };
}
