// Signs out: removes the token and shows the sign-in form.
import { createContext } from 'react';

export const LeaveContext = createContext<() => void>(() => undefined);
