// Requests as parsed by the server: an upgrade to anything but WebSocket is an ordinary request, and a closed
// connection yields none.
import { IncomingMessage } from 'node:http';

/**
 * A server ignores an Upgrade it does not support (RFC 9110, 7.8); Java and curl offer h2c with every plain
 * HTTP request. Node passes any Upgrade to the WebSocket listener.
 */
export class IncomingRequest extends IncomingMessage {
  // Not a private field: Node sets `upgrade` before there could be one.
  declare private wantsUpgrade: boolean | null;

  set upgrade(wanted: boolean | null) {
    this.wantsUpgrade = wanted;
  }

  get upgrade(): boolean {
    // Node continues to parse what has arrived, up to 2,500 requests, unless the rest belongs to another protocol.
    if (this.socket.destroyed) return true;
    return this.wantsUpgrade === true && this.headers.upgrade?.toLowerCase() === 'websocket';
  }
}
