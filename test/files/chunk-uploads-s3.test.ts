// The tests of /attachments/chunk, with the files in S3.
import '../support/environment.js';
import '../support/s3-environment.js';
import './chunk-uploads.test.js';
