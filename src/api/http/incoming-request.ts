// Requests as parsed by the server: an upgrade to anything but WebSocket is an ordinary request.
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
    return this.wantsUpgrade === true && this.headers.upgrade?.toLowerCase() === 'websocket';
  }
}
