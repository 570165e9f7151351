// Requests as the server reads them: those that offer another protocol than WebSocket are ordinary ones, and behind a closed
// connection there are none.
import { IncomingMessage } from 'node:http';

/**
 * A server that does not want the protocol it is offered answers as if it had not been (RFC 9110, 7.8); Java and curl offer
 * h2c with every request over plain HTTP. Node hands whatever carries Upgrade to the WebSocket's listener.
 */
export class IncomingRequest extends IncomingMessage {
  // Not a private field: Node sets `upgrade` before there could be one.
  declare private wantsUpgrade: boolean | null;

  set upgrade(wanted: boolean | null) {
    this.wantsUpgrade = wanted;
  }

  get upgrade(): boolean {
    // Node reads on in what has already arrived, up to 2,500 requests, unless it takes the rest for another protocol.
    if (this.socket.destroyed) return true;
    return this.wantsUpgrade === true && this.headers.upgrade?.toLowerCase() === 'websocket';
  }
}
