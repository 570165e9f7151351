// How one leaves: the token is forgotten and the door is shown.
import { createContext } from 'react';

export const LeaveContext = createContext<() => void>(() => undefined);
