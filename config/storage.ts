// Files: storage, upload limits, lifetime of exports.
import { resolve } from 'node:path';
import Joi from 'joi';
import { constant, list, projectRoot, urlOf, words } from './environment.js';

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
  UPLOAD_MAX_MB: number;
  UPLOAD_QUOTA_MB: number;
  UPLOAD_EXTENSIONS: string;
  IMPORT_MAX_MB: number;
}

// Raster images, video, audio, documents, archives; nothing a browser would execute.
const extensions =
  'jpg,jpeg,png,gif,webp,bmp,mp4,webm,mov,mp3,pdf,txt,csv,doc,docx,xls,xlsx,ppt,pptx,zip,gz,7z,rar';

const neededByS3 = (schema: Joi.StringSchema) =>
  schema.when('STORAGE_DRIVER', { is: 's3', then: Joi.required() });

export const storageSettings: Joi.StrictSchemaMap<StorageEnvironment> = {
  STORAGE_DRIVER: Joi.string()
    .valid('local', 's3')
    .default('local')
    .description('local or s3; local needs one folder that every machine mounts'),
  STORAGE_ROOT: Joi.string()
    .default('storage')
    .description(
      'folder of the local driver and of uploads on their way; relative to the project, absolute in production',
    ),
  S3_ENDPOINT: urlOf('http', 'https').description('address of an S3-compatible server; AWS when empty'),
  S3_REGION: Joi.string().default('us-east-1').description('region of the bucket'),
  S3_BUCKET: neededByS3(Joi.string()).description('bucket; must exist'),
  S3_ACCESS_KEY_ID: neededByS3(Joi.string()).description('access key'),
  S3_SECRET_ACCESS_KEY: neededByS3(Joi.string()).description('secret key'),
  S3_FORCE_PATH_STYLE: Joi.boolean().default(false).description('bucket in the path, as MinIO wants it'),
  S3_PRESIGNED_DOWNLOADS: Joi.boolean()
    .default(false)
    .description('downloads are redirected to a presigned address instead of passing through the API'),
  UPLOAD_MAX_MB: Joi.number().integer().min(1).default(100).description('largest file in one request, MiB'),
  UPLOAD_QUOTA_MB: Joi.number()
    .integer()
    .min(0)
    .default(10_240)
    .description('attachments and unmerged chunks that one administrator may keep, MiB; 0: no limit'),
  UPLOAD_EXTENSIONS: list((word) => /^[a-z0-9]{1,16}$/.test(word))
    .default(extensions)
    .description('extensions that may be uploaded, of those the service can check (docs/operations.md)'),
  IMPORT_MAX_MB: Joi.number().integer().min(1).default(200).description('largest file to import, MiB'),
};

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
      /** A connection without progress for this long is closed. */
      timeoutMs: constant('S3_TIMEOUT_SECONDS', 20) * 1000,
      /** Prefix of every key, so that tenants can share a bucket. */
      prefix: tenant ? `${tenant}/` : '',
    },
    uploadMaxBytes: env.UPLOAD_MAX_MB * mebibyte,
    chunkMaxBytes: constant('CHUNK_MAX_MB', 10) * mebibyte,
    chunkedMaxBytes: 5120 * mebibyte,
    /** 0: no limit. */
    quotaBytes: env.UPLOAD_QUOTA_MB * mebibyte,
    extensions: words(env.UPLOAD_EXTENSIONS),
    uploadTimeoutMs: constant('UPLOAD_TIMEOUT_SECONDS', 900) * 1000,
    /** 0: no limit. */
    chunkSessionsMax: constant('CHUNK_SESSIONS_MAX', 100),
    chunkSessionMs: 24 * hourMs,
    importMaxBytes: env.IMPORT_MAX_MB * mebibyte,
    exportsPerAdmin: constant('EXPORTS_PER_ADMIN', 10),
  };
}
