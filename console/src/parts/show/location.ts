// Where the page is.
import { useLocation } from 'react-router';

/**
 * The URL of the open list, also while a row or a form is open beside it: a relative link would start from that
 * one.
 */
export const useListAddress = (): string => useLocation().pathname.split('/').slice(0, 3).join('/');

/** Whether nothing of this console is behind the page: it was opened by a link. The router counts the entries. */
export const isFirstPage = (): boolean => !((history.state as { idx?: number } | null)?.idx ?? 0);
