// Which form is open: one that a button opened opens again after a reload or a new sign-in, which leave its draft.
import { useEffect, useState } from 'react';
import { draftPlace, session } from '../../contract/session.ts';
import { tabStorage } from '../../contract/tab-storage.ts';
import { useProfile } from '../show/profile.ts';
import type { AnyRow } from '../resource.ts';

const place = `${draftPlace} open`;

/** The form that the last session or the page before left open, until it is opened again. */
let left = tabStorage.getItem(place);

/** Names a form by what it changes and what it adds to the body: two records never share a draft. */
export const formName = (route: string, path?: object, fixed?: AnyRow): string =>
  `${route} ${JSON.stringify({ ...path, ...fixed })}`;

/** Notes the form as open while it is shown. */
export function useOpenNote(name: string): void {
  const { id } = useProfile();
  useEffect(() => {
    tabStorage.setItem(place, `${id} ${name}`);
    return () => {
      // A session that ends closes it, too; a sign-out has removed the note by now.
      if (session.token) tabStorage.removeItem(place);
      left = tabStorage.getItem(place);
    };
  }, [id, name]);
}

/** @returns whether the form was left open; true once */
export function useTakeLeft(): (name: string) => boolean {
  const { id } = useProfile();
  return (name) => {
    if (left !== `${id} ${name}`) return false;
    left = null;
    return true;
  };
}

/** Whether the form of a button is open; it is at first when it was left open. */
export function useFormOpen(name: string): [boolean, (isOpen: boolean) => void] {
  const takeLeft = useTakeLeft();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (takeLeft(name)) setOpen(true);
  }, [name]);
  return [isOpen, setOpen];
}
