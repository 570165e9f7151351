// A way to a server that a test may cut, and on which it may lose what is said.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What becomes of something that a client has sent: passed on; passed on and its answer lost with the connection; lost. */
export type Fate = 'pass' | 'lose answer' | 'lose';

export class Proxy {
  readonly #host: string;
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => this.#join(client));
  #isCut = false;
  #decide: (sent: Buffer) => Fate = () => 'pass';

  constructor(host: string, port: number) {
    [this.#host, this.#port] = [host, port];
  }

  /** @returns the port it listens on, on the loopback address */
  async listen(): Promise<number> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** Decides about everything that is sent from now on. */
  decide(decide: (sent: Buffer) => Fate): void {
    this.#decide = decide;
  }

  passAll(): void {
    this.#decide = () => 'pass';
  }

  /** Ends all connections and takes no new ones. */
  cut(): void {
    this.#isCut = true;
    this.#endAll();
  }

  mend(): void {
    this.#isCut = false;
  }

  close(): void {
    this.#server.close();
    this.#endAll();
  }

  #endAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(client: Socket): void {
    if (this.#isCut) return void client.destroy();
    const server = connect(this.#port, this.#host);
    let isLost = false;
    const end = () => [client, server].forEach((socket) => socket.destroy());
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', end);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        end();
      });
    }
    client.on('data', (sent) => {
      const fate = this.#decide(sent);
      if (fate === 'lose') return end();
      isLost ||= fate === 'lose answer';
      server.write(sent);
    });
    server.on('data', (answer) => (isLost ? end() : client.write(answer)));
  }
}
