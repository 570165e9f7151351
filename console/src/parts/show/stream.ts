// Server-sent events of the API, opened with a one-time ticket and reopened when they break off.
import { useEffect, useEffectEvent } from 'react';
import { addressOf, call, read, type Route } from '../../contract/api.ts';
import { useSettings } from '../../contract/settings.ts';

const firstWaitMs = 1000;
const maxWaitMs = 30_000;

/** Calls `onData` for each event of that type while the component is mounted. */
export function useStream<T>(
  route: Route,
  type: string,
  query: Record<string, string>,
  onData: (data: T) => void,
): void {
  const take = useEffectEvent(onData);
  const { language } = useSettings();
  // An EventSource sends the language of the browser, not that of the page.
  const asked = JSON.stringify({ ...query, language });
  useEffect(() => {
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let waitMs = firstWaitMs;
    let isWanted = true;
    const again = () => {
      source?.close();
      if (isWanted) timer = setTimeout(() => void open(), waitMs);
      waitMs = Math.min(waitMs * 2, maxWaitMs);
    };
    const open = async () => {
      try {
        const { ticket } = await call('POST /api/admin/notifications/ws-ticket');
        if (!isWanted) return;
        source = new EventSource(
          addressOf(route, { query: { ...(JSON.parse(asked) as Record<string, string>), ticket } }),
        );
        source.onmessage = ({ data }: MessageEvent<string>) => {
          waitMs = firstWaitMs;
          const event = read(data) as unknown as { type: string; data: T } | undefined;
          if (event?.type === type) take(event.data);
        };
        // A ticket is used once, so the browser's own reconnect would fail.
        source.onerror = again;
      } catch {
        again();
      }
    };
    void open();
    return () => {
      isWanted = false;
      clearTimeout(timer);
      source?.close();
    };
  }, [route, type, asked]);
}
