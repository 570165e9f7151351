// Server-sent events (WHATWG HTML, 9.2): unnamed events, one data line each with {type, data, timestamp}.
import { now } from '../../lib/values/clock.js';
import { AppError } from '../../lib/errors/app-error.js';
import { toJson } from '../../lib/values/json.js';
import { logger, throttled } from '../../lib/watch/logger.js';
import { withZone } from '../../lib/values/time.js';
import { currentZone } from '../../lib/process/context.js';
import { every } from '../../lib/process/timers.js';
import type { Identity } from '../../models/access/identity.js';
import type { Context } from '../declare/request-state.js';
import type { Route } from '../declare/route.js';
import { track } from './live-connections.js';

interface EventSource {
  /** `type` of its events. */
  type: string;
  intervalMs: number;
  read(): Promise<unknown>;
  /** Whether a value is the last one; it ends the stream. */
  isLast?(value: unknown): boolean;
}

const heartbeatMs = 15_000;

/** A client with more unread bytes is disconnected. */
const maxUnreadBytes = 256 * 1024;

/** A client that has not taken the rest of an ended stream by then is disconnected. */
const lingerMs = 5000;

/** Sends a stream: `connected`, the first value at once, then one per interval until the client or the session ends. */
export function sendEvents(ctx: Context, identity: Identity, source: EventSource): void {
  const { res } = ctx;
  const { ip, route } = ctx.state;
  const zone = currentZone();
  if (ctx.method === 'HEAD') {
    begin(ctx);
    res.end();
    return;
  }
  // While the client does not read, an ended answer neither finishes nor closes.
  const end = (): void => {
    if (res.writableEnded) return;
    res.end();
    const cut = setTimeout(() => res.destroy(), lingerMs).unref();
    res.once('close', () => clearTimeout(cut));
  };
  const release = track({ identity, ip, route: route as Route, close: end });
  begin(ctx);
  const write = (text: string): void => {
    // Writing after the end would be an error that nobody handles.
    if (res.writableEnded || res.destroyed) return;
    if (res.writableLength > maxUnreadBytes) res.destroy();
    else res.write(text);
  };
  const send = (type: string, data: unknown): void => {
    const shown = zone ? withZone(data, zone) : data;
    write(`data: ${toJson({ type, data: shown, timestamp: now() })}\n\n`);
  };
  const tick = async (): Promise<void> => {
    try {
      const value = await source.read();
      send(source.type, value);
      if (source.isLast?.(value)) end();
    } catch (error) {
      // The record was removed meanwhile.
      if (error instanceof AppError && error.status === 404) end();
      else
        throttled(`streams of ${source.type}`, (count) =>
          logger.warn({ error, stream: source.type, count }, 'the source of an event stream failed'),
        );
    }
  };
  send('connected', null);
  void tick();
  const stopTicks = every(source.intervalMs, tick);
  const heartbeats = setInterval(() => write(': heartbeat\n\n'), heartbeatMs);
  res.on('close', () => {
    stopTicks();
    clearInterval(heartbeats);
    release();
  });
}

function begin(ctx: Context): void {
  ctx.respond = false;
  ctx.res.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store, no-transform',
    'X-Accel-Buffering': 'no',
  });
}
