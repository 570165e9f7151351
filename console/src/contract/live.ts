// The WebSocket of the service. Frames are hints: they name what is stale, and the API is queried again.
import { call } from './api.ts';
import { createStore } from './store.ts';

export interface Frame {
  type: string;
  data?: unknown;
}

type Listener = (frame: Frame) => void;

const listeners = new Set<Listener>();
/** Whether the socket is connected, will be, or waits until somebody comes back to this tab. */
const liveness = createStore<'live' | 'lost' | 'paused'>('lost');
let socket: WebSocket | undefined;
let timer: number | undefined;
let failures = 0;

const maxWaitMs = 30_000;

/** More tabs are open than the service connects: this one, connected the longest, had to give way. */
const gaveWay = 4429;

const isUnderWay = (): boolean => socket !== undefined && socket.readyState < WebSocket.CLOSING;

let connectAtOnce = (): void => undefined;

/** Connects at once: the service has just answered. */
export const reconnectNow = (): void => connectAtOnce();

/**
 * Opens the socket and keeps it open; returns a function that closes it. `onOpen` is called whenever frames may
 * have been missed.
 */
export function connectLive(onOpen: (isFirst: boolean) => void): () => void {
  let isWanted = true;
  let wasOpen = false;

  const again = () => {
    if (!isWanted) return;
    const waitMs = Math.min(1000 * 2 ** failures, maxWaitMs) * (0.75 + Math.random() / 2);
    failures += 1;
    clearTimeout(timer);
    timer = window.setTimeout(() => void open(), waitMs);
  };

  const open = async () => {
    if (!isWanted) return;
    try {
      const { ticket } = await call('POST /api/admin/notifications/ws-ticket');
      if (!isWanted || isUnderWay()) return;
      const address = `${location.origin.replace(/^http/, 'ws')}/ws/admin/notifications?ticket=${encodeURIComponent(ticket)}`;
      const made = new WebSocket(address);
      socket = made;
      made.onopen = () => {
        failures = 0;
        liveness.set('live');
        onOpen(!wasOpen);
        wasOpen = true;
      };
      made.onmessage = ({ data }: MessageEvent<string>) => hear(data);
      made.onclose = ({ code }) => {
        // One that has hung may close after its successor was opened.
        if (socket !== made) return;
        liveness.set(code === gaveWay ? 'paused' : 'lost');
        // The session has ended: the next call fails and leads to the sign-in form.
        if (code === 4401) onOpen(false);
        // Connecting at once would drive out the next tab, and that one this again.
        if (code !== gaveWay) again();
      };
    } catch {
      again();
    }
  };

  const atOnce = () => {
    failures = 0;
    if (liveness.get() === 'live') return;
    // One that has hung since before.
    socket?.close();
    again();
  };
  // The browser may leave the socket open for minutes.
  const atLoss = () => {
    liveness.set('lost');
    socket?.close();
  };
  const atLook = () => {
    if (document.visibilityState === 'visible' && !isUnderWay()) atOnce();
  };
  window.addEventListener('focus', atLook);
  document.addEventListener('visibilitychange', atLook);
  window.addEventListener('online', atOnce);
  window.addEventListener('offline', atLoss);
  connectAtOnce = atOnce;
  void open();
  return () => {
    isWanted = false;
    connectAtOnce = () => undefined;
    clearTimeout(timer);
    window.removeEventListener('focus', atLook);
    document.removeEventListener('visibilitychange', atLook);
    window.removeEventListener('online', atOnce);
    window.removeEventListener('offline', atLoss);
    socket?.close();
  };
}

function hear(text: string): void {
  try {
    const frame = JSON.parse(text) as Frame;
    for (const listener of listeners) listener(frame);
  } catch {
    // Unreadable frames are ignored.
  }
}

export function onFrame(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useLiveness = liveness.use;
