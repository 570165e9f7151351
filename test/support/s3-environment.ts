// For a test file that keeps its files in S3; imported right after environment.ts.
import { startS3 } from './s3.js';

export const s3 = await startS3();

Object.assign(process.env, s3.env);
