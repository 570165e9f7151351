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

const store = (records: Recent[]): void => tabStorage.setItem(place, JSON.stringify(records.slice(0, kept)));

export const remember = (record: Recent): void =>
  store([record, ...recentRecords().filter(({ address }) => address !== record.address)]);

/** Of a record that no longer exists. @param end of its URL, from the name of its list */
export const forgetOne = (end: string): void =>
  store(recentRecords().filter(({ address }) => !address.endsWith(end)));
