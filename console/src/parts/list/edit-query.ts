// Changes of the address.
import { useCallback } from 'react';
import { useNavigate } from 'react-router';

/** Edits the query of the address, which is ahead of what is drawn: a value read while drawing may be outdated. */
export function useEditQuery() {
  const navigate = useNavigate();
  return useCallback(
    (edit: (query: URLSearchParams) => URLSearchParams | undefined, { replace = false } = {}) => {
      const query = new URLSearchParams(location.search);
      void navigate({ search: (edit(query) ?? query).toString() }, { replace });
    },
    [navigate],
  );
}
