// Signs out: removes the token and shows the sign-in form.
import { createContext } from 'react';

export const SignOutContext = createContext<() => void>(() => undefined);
