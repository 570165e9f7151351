// What bench:files is held against: a bare Node.js server that streams each request body to a file and syncs it.
import { createWriteStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { config } from '../../config/index.js';

const folder = join(config.storage.root, 'baseline');
await mkdir(folder, { recursive: true });

let count = 0;

const server = createServer((request, response) => {
  void store(request).then(() => response.end('{}'));
});

async function store(request: IncomingMessage): Promise<void> {
  const path = join(folder, String(count++));
  await pipeline(request, createWriteStream(path));
  const file = await open(path);
  await file.sync();
  await file.close();
}

server.listen(config.app.port, config.app.host, () => process.send?.('ready'));
