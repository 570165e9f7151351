// Parts of the console that are loaded on demand, and what it means when one does not come: no network, or files that a new
// release has replaced.

import { isTabStored, tabStorage } from './tab-storage.ts';

/** How browsers put that a script could not be loaded. */
const notLoaded = /dynamically imported module|importing a module script|preload css|loading chunk/i;

export const isLoadFailure = (error: unknown): boolean =>
  error instanceof Error && notLoaded.test(error.message);

const place = 'console.reloaded';
const recentMs = 30_000;

/** Whether the page of this console can be fetched now. */
export async function isReachable(): Promise<boolean> {
  try {
    const { ok } = await fetch(import.meta.env.BASE_URL, { cache: 'no-store' });
    return ok;
  } catch {
    return false;
  }
}

/** Reloads the page, at most once in 30 s. @returns false when a reload has just not helped */
export function reloadOnce(): boolean {
  const last = Number(tabStorage.getItem(place) ?? 0);
  if (!isTabStored || Date.now() - last < recentMs) return false;
  tabStorage.setItem(place, String(Date.now()));
  location.reload();
  return true;
}
