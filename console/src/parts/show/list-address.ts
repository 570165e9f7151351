// The address of the list that is open, also while a row or a form is open beside it: a relative link would lead on from
// there.
import { useLocation } from 'react-router';

export const useListAddress = (): string => useLocation().pathname.split('/').slice(0, 3).join('/');
