// Third import of a test file whose files are in S3: downloads redirect to addresses there.
process.env.S3_PRESIGNED_DOWNLOADS = 'true';
