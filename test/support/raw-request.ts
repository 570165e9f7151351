// A request that no HTTP client would send.
import { once } from 'node:events';
import { connect } from 'node:net';

const maxMs = 20_000;

/** Writes a text to the socket. @returns everything that came back until it was closed @throws Error when it is not closed in time */
export async function sendText(url: string, text: string, localAddress?: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  let answer = '';
  socket.on('data', (data) => (answer += data.toString('latin1')));
  socket.on('error', () => undefined);
  socket.write(text);
  await once(socket, 'close', { signal: AbortSignal.timeout(maxMs) });
  return answer;
}
