// A reverse proxy in front of an API process, as in production: while the process is away it answers 502 in HTML, as nginx does.
import { createServer, request as ask } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';
import { portOf } from './free-port.js';

interface Gateway {
  url: string;
  close(): void;
}

/** @param target address of the API process, which may come and go */
export async function startGateway(target: string): Promise<Gateway> {
  const { hostname, port } = new URL(target);
  const server = createServer((request, response) => {
    const { method, url: path, headers } = request;
    const passed = ask({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => {
      if (response.headersSent) return response.destroy();
      response.writeHead(502, { 'Content-Type': 'text/html' });
      return response.end('<html><body><h1>502 Bad Gateway</h1></body></html>');
    });
    request.pipe(passed);
  });
  server.on('upgrade', (request, socket, head) => {
    const passed = connect(Number(port), hostname, () => {
      const lines = Object.entries(request.headers).map(([name, value]) => `${name}: ${String(value)}`);
      passed.write(`${request.method} ${request.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      passed.write(head);
      socket.pipe(passed).pipe(socket);
    });
    passed.on('error', () => socket.destroy());
    passed.on('close', () => socket.destroy());
    socket.on('error', () => passed.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
