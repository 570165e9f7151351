// Records opened lately in this tab, for the search.
import { tabStorage } from './tab-storage.ts';
const place = 'console.recent';
const kept = 8;

export interface Recent {
  address: string;
  title: string;
}

export function recentRecords(): Recent[] {
  try {
    const stored: unknown = JSON.parse(tabStorage.getItem(place) ?? '[]');
    return Array.isArray(stored) ? (stored as Recent[]) : [];
  } catch {
    return [];
  }
}

/** At the sign-out: the next one to sign in must not see them. */
export const forgetRecent = (): void => tabStorage.removeItem(place);

export function remember(record: Recent): void {
  const others = recentRecords().filter(({ address }) => address !== record.address);
  tabStorage.setItem(place, JSON.stringify([record, ...others].slice(0, kept)));
}
