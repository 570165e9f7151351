// What a role allows, and who holds it.
import { useQuery } from '@tanstack/react-query';
import { call, type Data } from '../contract/api.ts';
import { plural, texts } from '../contract/texts.ts';
import { PageLink } from '../parts/show/page-link.tsx';
import { Problem } from '../parts/show/problem.tsx';
import { useMay, useProfile } from '../parts/show/profile.ts';
import { idsOf } from '../parts/show/tree.ts';

const t = texts({
  all: ['超级管理员：拥有所有权限', 'Super administrator: holds every permission'],
  permissions: [
    (count: number) => `权限（${count}）`,
    (count) => `${count} ${plural(count, 'permission', 'permissions')}`,
  ],
  menus: [(count: number) => `菜单（${count}）`, (count) => `${count} ${plural(count, 'menu', 'menus')}`],
  holders: [
    (count: number) => `拥有此角色的管理员（${count}）`,
    (count) => `Held by ${count} ${plural(count, 'administrator', 'administrators')}`,
  ],
  none: ['没有权限', 'No permissions'],
  noMenus: ['没有菜单', 'No menus'],
  nobody: ['还没有人拥有此角色', 'Nobody holds this role yet'],
});

type Role = Data<'GET /api/admin/roles/{id}'>;

export function RoleRights({ row }: { row: unknown }) {
  const { slug, permissions, menus, id } = row as Role;
  const may = useMay();
  return (
    <div className="stack role-rights">
      {slug === 'super-admin' ? (
        <p className="soft">{t.all}</p>
      ) : (
        <Rights permissions={permissions} menus={menus} />
      )}
      {may('GET /api/admin/admins') && <Holders roleId={id} />}
    </div>
  );
}

/** In the order of the menu, each title once: a directory may be named as its entry. */
function useTitles(menus: Role['menus']): string[] {
  const ids = idsOf(useProfile().menus);
  const placeOf = (id: number) => (ids.includes(id) ? ids.indexOf(id) : ids.length);
  const sorted = [...menus].sort((one, other) => placeOf(one.id) - placeOf(other.id));
  return [...new Set(sorted.map(({ title }) => title))];
}

function Rights({ permissions, menus }: Pick<Role, 'permissions' | 'menus'>) {
  const titles = useTitles(menus);
  return (
    <>
      <section>
        <h3>{t.permissions(permissions.length)}</h3>
        {permissions.length === 0 && <span className="soft">{t.none}</span>}
        <ul className="names">
          {permissions.map((one) => (
            <li key={one.id} title={one.slug}>
              {one.name}
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h3>{t.menus(titles.length)}</h3>
        {titles.length === 0 && <span className="soft">{t.noMenus}</span>}
        <ul className="names">
          {titles.map((title) => (
            <li key={title}>{title}</li>
          ))}
        </ul>
      </section>
    </>
  );
}

function Holders({ roleId }: { roleId: number }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['admins', 'list', { role_id: roleId }],
    queryFn: ({ signal }) =>
      call('GET /api/admin/admins', { query: { role_id: roleId, page_size: 100 }, signal }),
    meta: { scopes: ['identity'] },
  });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return null;
  return (
    <section>
      <h3>{t.holders(data.total)}</h3>
      {data.total === 0 && <span className="soft">{t.nobody}</span>}
      <ul className="names">
        {data.list.map(({ id, username }) => (
          <li key={id}>
            <PageLink to={`/access/admins/${id}`}>{username}</PageLink>
          </li>
        ))}
      </ul>
    </section>
  );
}
