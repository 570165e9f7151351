// Settings of this browser: language, time zone, theme, columns and page sizes, in localStorage.
import { useSyncExternalStore } from 'react';
import { flushSync } from 'react-dom';
import { createStore } from './store.ts';

export type Language = 'zh-CN' | 'en-US';
export type Theme = 'light' | 'dark' | 'system';

export interface Settings {
  language: Language;
  /** An IANA name. */
  zone: string;
  theme: Theme;
  pageSize: number;
  /** Hidden columns by resource. */
  hidden: Record<string, string[]>;
  /** Resources shown as a grid. */
  tiled: string[];
  isMenuFolded: boolean;
  /** Addresses of screens on top of the menu. */
  pinned: string[];
  /** Rows of lists close together. */
  isCompact: boolean;
  /** Saved views by resource. */
  views: Record<string, View[]>;
}

/** Filters, order and columns of a list under a name. */
export interface View {
  name: string;
  /** The query of its address. */
  search: string;
}

const place = 'console.settings';

// Chrome calls a zone of the system that is no IANA zone Etc/Unknown or +08:00; nobody else knows either.
const knownZone = (zone: string | undefined): string =>
  zone && !/^(Etc\/Unknown$|[+-])/.test(zone) ? zone : 'UTC';

export const browserZone = (): string => knownZone(Intl.DateTimeFormat().resolvedOptions().timeZone);

const defaults = (): Settings => ({
  language: navigator.language.startsWith('zh') ? 'zh-CN' : 'en-US',
  zone: browserZone(),
  theme: 'system',
  pageSize: 20,
  hidden: {},
  tiled: [],
  isMenuFolded: false,
  pinned: [],
  isCompact: false,
  views: {},
});

/** What was chosen, in another tab as well; all else follows the browser. Without storage it lasts until the tab is closed. */
function chosen(): Partial<Settings> {
  try {
    const stored = JSON.parse(localStorage.getItem(place) ?? '{}') as Partial<Settings>;
    return stored.zone ? { ...stored, zone: knownZone(stored.zone) } : stored;
  } catch {
    return {};
  }
}

const settings = createStore<Settings>({ ...defaults(), ...chosen() });

export const currentSettings = settings.get;
export const useSettings = settings.use;

export function changeSettings(changes: Partial<Settings>): void {
  const next = { ...chosen(), ...changes };
  try {
    localStorage.setItem(place, JSON.stringify(next));
  } catch {
    // There is no storage.
  }
  settings.set({ ...settings.get(), ...next });
}

// From another tab.
addEventListener('storage', ({ key }) => {
  if (key === place) settings.set({ ...settings.get(), ...chosen() });
});

const darkness = matchMedia('(prefers-color-scheme: dark)');

function watchDarkness(listener: () => void): () => void {
  darkness.addEventListener('change', listener);
  return () => darkness.removeEventListener('change', listener);
}

/** Whether the screen is dark, following the system if so chosen. */
export function useIsDarkScreen(): boolean {
  const { theme } = useSettings();
  const isDark = useSyncExternalStore(watchDarkness, () => darkness.matches);
  return theme === 'system' ? isDark : theme === 'dark';
}

const printing = ['beforeprint', 'afterprint'] as const;
let isPrinted = false;
for (const event of printing) addEventListener(event, () => (isPrinted = event === 'beforeprint'));

// Firefox prints the page as the event leaves it, before anything that waits.
function watchPrinting(listener: () => void): () => void {
  const draw = () => flushSync(listener);
  for (const event of printing) addEventListener(event, draw);
  return () => {
    for (const event of printing) removeEventListener(event, draw);
  };
}

/** Whether the page is dark: as the screen, but never on paper. */
export function useIsDark(): boolean {
  const isOnPaper = useSyncExternalStore(watchPrinting, () => isPrinted);
  return useIsDarkScreen() && !isOnPaper;
}
