// Prints the OpenAPI document (npm run -s openapi > openapi.json), without database and Redis.
import { openApiDocument } from './declare/openapi.js';
import { routes } from './routes.js';

// A reader may stop early, as `| head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
process.stdout.write(`${JSON.stringify(await openApiDocument(routes), null, 2)}\n`);
