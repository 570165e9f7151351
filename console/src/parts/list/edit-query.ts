// Changes of the address.
import { useCallback } from 'react';
import { useHref, useNavigate } from 'react-router';
import { useListAddress } from '../show/location.ts';

/**
 * Edits the query of the address, which is ahead of what is drawn: a value read while drawing may be outdated. Once another
 * screen is opened, a filter that was typed before changes nothing.
 */
export function useEditQuery() {
  const navigate = useNavigate();
  const address = useListAddress();
  const here = useHref(address);
  return useCallback(
    (edit: (query: URLSearchParams) => URLSearchParams | undefined, { replace = false } = {}) => {
      if (!`${location.pathname}/`.startsWith(`${here}/`)) return;
      const query = new URLSearchParams(location.search);
      // A row or form that was opened beside the list meanwhile stays.
      const pathname = address + location.pathname.slice(here.length);
      void navigate({ pathname, search: (edit(query) ?? query).toString() }, { replace });
    },
    [navigate, address, here],
  );
}
