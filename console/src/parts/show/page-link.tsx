// A link to a record or a list of another screen, for those who may open it; others read its text.
import { Link, type LinkProps } from 'react-router';
import type { Route } from '../../contract/api.ts';
import { useMay } from './profile.ts';

/** @param to such as `/trade/orders/ORD…` or `/trade/orders?status=paid`: behind the room is the segment of the API */
export function PageLink({ to, ...props }: LinkProps & { to: string }) {
  const may = useMay();
  const [, , segment, id] = (to.split('?')[0] ?? '').split('/');
  const route = id ? `GET /api/admin/${segment}/{id}` : `GET /api/admin/${segment}`;
  const { className, title, children } = props;
  return may(route as Route) ? (
    <Link to={to} {...props} />
  ) : (
    <span className={className} title={title}>
      {children}
    </span>
  );
}
