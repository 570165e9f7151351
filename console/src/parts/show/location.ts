// Where the page is.
import { useLocation } from 'react-router';

/**
 * The address of the list that is open, also while a row or a form is open beside it: a relative link would lead on from
 * there.
 */
export const useListAddress = (): string => useLocation().pathname.split('/').slice(0, 3).join('/');

/** Whether nothing of this console is behind the page: it was opened by a link. The router counts the entries. */
export const isFirstPage = (): boolean => !((history.state as { idx?: number } | null)?.idx ?? 0);
