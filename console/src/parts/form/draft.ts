// Edits survive a reload, a new sign-in of the same person and a new version of the page, except for secrets.
import { useEffect, useState } from 'react';
import { draftPlace } from '../../contract/session.ts';
import { useProfile } from '../show/profile.ts';
import type { Fields } from './form-values.ts';
import type { AnyRow } from '../resource.ts';

/** The draft of a form by its name. */
export function useDraft(name: string, fields: Fields) {
  const place = `${draftPlace} ${useProfile().id} ${name}`;
  const [known, setKnown] = useState(() => read(place));
  return {
    known,
    keep(values: AnyRow) {
      const open = Object.entries(values).flatMap(([field, value]) => {
        const { isSecret, withoutSecrets } = fields[field] ?? {};
        if (isSecret || value === undefined) return [];
        return [[field, withoutSecrets ? withoutSecrets(value) : value]];
      });
      if (open.length === 0) return sessionStorage.removeItem(place);
      sessionStorage.setItem(place, JSON.stringify(Object.fromEntries(open)));
    },
    forget() {
      sessionStorage.removeItem(place);
      setKnown(undefined);
    },
  };
}

function read(place: string): AnyRow | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(place) ?? 'null') as AnyRow | null) ?? undefined;
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
