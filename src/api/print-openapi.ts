// Prints the OpenAPI document (npm run -s openapi > openapi.json), without database and Redis.
import { openApiDocument } from './declare/openapi.js';
import { routes } from './routes.js';

process.stdout.write(`${JSON.stringify(await openApiDocument(routes), null, 2)}\n`);
