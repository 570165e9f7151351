// What uploads are held against: a bare Node.js server that streams each request body to a file and syncs it.
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { config } from '../../config/index.js';

const folder = join(config.storage.root, 'baseline');
await mkdir(folder, { recursive: true });

let count = 0;
const server = createServer((request, response) => {
  const file = createWriteStream(join(folder, String(count++)), { flush: true });
  void pipeline(request, file).then(() => response.end('{}'));
});
server.listen(config.app.port, config.app.host, () => process.send?.('ready'));
