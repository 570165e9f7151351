// The menu tree.
import { lazy } from 'react';
import type { Route } from '../contract/api.ts';
import type { Both } from '../contract/texts.ts';
import { code, count, numberBadge, status, text, time } from '../parts/show/cells.tsx';
import { position, numberChoice, onOff, parent, slug, words } from '../parts/form/fields.tsx';
import { resource } from '../parts/resource.ts';
import { permittedLink, permittedPage } from '../parts/show/permitted.tsx';
import { menuIcons } from '../parts/show/menu-icons.tsx';
import { states } from '../parts/show/states.tsx';

const kinds = states({
  1: ['目录', 'Directory', 'blue'],
  2: ['页面', 'Page', 'green'],
  3: ['按钮', 'Button', 'grey'],
});

const iconNames = [...menuIcons.keys()];

const iconHint: Both = [
  `可填 ${iconNames.join('、')}；其他名称显示为文件夹`,
  `${iconNames.join(', ')}; any other name shows a folder`,
];

const fields = {
  parent_id: parent('menu'),
  title: words(),
  slug: slug(),
  type: { ...numberChoice(kinds), initial: 2 },
  path: words(),
  icon: { ...words(), hint: iconHint },
  sort: position(),
  status: onOff(),
  is_hidden: onOff(0),
};

/** What arranging needs. */
const needed: readonly Route[] = ['GET /api/admin/menus', 'PUT /api/admin/menus/{id}'];

export default resource('GET /api/admin/menus', {
  name: 'menus',
  title: ['菜单', 'Menus'],
  one: ['菜单', 'menu'],
  label: 'title',
  labels: {
    parent_id: ['上级菜单', 'Parent menu'],
    icon: ['图标', 'Icon'],
    is_hidden: ['隐藏', 'Hidden'],
  },
  stale: ['identity'],
  filters: {},
  columns: {
    title: text(240),
    slug: code(),
    type: numberBadge(kinds),
    path: code(220),
    sort: count(90),
    status: status(),
    created_at: time(),
  },
  folded: ['sort', 'created_at'],
  show: 'GET /api/admin/menus/{id}',
  create: { route: 'POST /api/admin/menus', fields },
  update: { route: 'PUT /api/admin/menus/{id}', fields },
  remove: 'DELETE /api/admin/menus/{id}',
  // A row of the list has its children, one that is shown says whether there are any.
  removable: ({ children = [], ...row }) => children.length === 0 && !('in_use' in row && row.in_use),
  extra: permittedLink(needed, ['调整顺序', 'Arrange'], { to: 'order' }),
  pages: {
    order: permittedPage(
      needed,
      ['调整菜单顺序', 'Arrange the menu'],
      lazy(() => import('./menu-order.tsx')),
    ),
  },
});
