// Pages and links for those who may call the routes they need.
import type { ComponentType } from 'react';
import type { Route } from '../../contract/api.ts';
import { read, type Both } from '../../contract/texts.ts';
import { LinkButton, type LinkButtonProps } from './link-button.tsx';
import { noPermission, Problem } from './problem.tsx';
import { useMay } from './profile.ts';
import { useTitle } from './use-title.ts';

/** @returns that page; in its place others read that they need a permission */
export const permittedPage = (routes: readonly Route[], title: Both, Page: ComponentType): ComponentType =>
  function PermittedPage() {
    const may = useMay();
    return routes.every((route) => may(route)) ? <Page /> : <NotAllowed title={read(title)} />;
  };

function NotAllowed({ title }: { title: string }) {
  useTitle(title);
  return (
    <section className="screen">
      <h1>{title}</h1>
      <Problem error={noPermission} />
    </section>
  );
}

/** @returns a link button beside the title of a list; others get none */
export const permittedLink = (routes: readonly Route[], text: Both, props: LinkButtonProps) =>
  function PermittedLink() {
    const may = useMay();
    return routes.every((route) => may(route)) ? <LinkButton {...props}>{read(text)}</LinkButton> : null;
  };
