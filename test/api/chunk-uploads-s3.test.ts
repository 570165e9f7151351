// /attachments/chunk once more, with the files in S3.
import '../support/environment.js';
import { s3 } from '../support/s3-environment.js';
import './chunk-uploads.test.js';
import test from 'ava';

test.after.always(() => s3.stop());
