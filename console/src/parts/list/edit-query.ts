// Changes of the URL.
import { useCallback } from 'react';
import { useHref, useNavigate } from 'react-router';
import { useListAddress } from '../show/location.ts';

/**
 * Edits the query of the present URL, not of the last rendering, which may be older. Once another screen is open, a filter
 * that was typed before changes nothing.
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
