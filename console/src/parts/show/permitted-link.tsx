// A link button beside the title of a list, for those who may call what it leads to.
import type { Route } from '../../contract/api.ts';
import { read, type Both } from '../../contract/texts.ts';
import { LinkButton, type LinkButtonProps } from './link-button.tsx';
import { useMay } from './profile.ts';

/** @returns the component of that link */
export const permittedLink = (routes: readonly Route[], text: Both, props: LinkButtonProps) =>
  function PermittedLink() {
    const may = useMay();
    return routes.every((route) => may(route)) ? <LinkButton {...props}>{read(text)}</LinkButton> : null;
  };
