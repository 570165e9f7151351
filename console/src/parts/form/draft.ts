// Edits survive a reload, a new sign-in of the same person and a new version of the page, except for secrets.
import { useEffect, useState } from 'react';
import { draftPlace } from '../../contract/session.ts';
import { tabStorage } from '../../contract/tab-storage.ts';
import { useProfile } from '../show/profile.ts';
import type { AnyRow } from '../resource.ts';
import type { Fields } from './form-values.ts';

interface Draft {
  /** What its writer has changed. */
  values: AnyRow;
  /** What that was before. */
  base: AnyRow;
  /** The key under which it was sent; the answer may be lost. */
  key?: string;
}

/** The draft of a form by its name. */
export function useDraft(name: string, fields: Fields) {
  const place = `${draftPlace} ${useProfile().id} ${name}`;
  const [known, setKnown] = useState(() => read(place));
  return {
    known,
    keep(values: AnyRow, base: AnyRow, key?: string) {
      const open = Object.entries(values).flatMap(([field, value]): [string, unknown][] => {
        const { isSecret, withoutSecrets } = fields[field] ?? {};
        if (isSecret || value === undefined) return [];
        return [[field, withoutSecrets ? withoutSecrets(value) : value]];
      });
      if (open.length === 0) return tabStorage.removeItem(place);
      const draft: Draft = {
        values: Object.fromEntries(open),
        base: Object.fromEntries(open.map(([field]) => [field, base[field] ?? null])),
        ...(key && { key }),
      };
      tabStorage.setItem(place, JSON.stringify(draft));
    },
    forget() {
      tabStorage.removeItem(place);
      setKnown(undefined);
    },
  };
}

function read(place: string): Draft | undefined {
  try {
    return (JSON.parse(tabStorage.getItem(place) ?? 'null') as Draft | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Makes the browser confirm closing the tab: a draft is lost with it. */
export function useLeaveGuard(isActive: boolean): void {
  useEffect(() => {
    if (!isActive) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [isActive]);
}
