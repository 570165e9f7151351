// Ends connections as a peer that crashed does.
import type { Socket } from 'node:net';

/**
 * Ends a connection with a reset. One that is being ended already cannot be reset: Node.js 20 then takes its handle for closed
 * and, when the process ends, waits for it for ever at full speed.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
