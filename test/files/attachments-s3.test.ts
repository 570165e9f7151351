// The tests of /attachments, with the files in S3.
import '../support/environment.js';
import '../support/s3-environment.js';
import './attachments.test.js';
