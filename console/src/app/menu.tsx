// The menu of the administrator: the service decides its entries, the console what each opens. Entries whose screen the caller may not
// open are left out; a directory with one entry is that entry.
import { FolderOutlined, PushpinOutlined } from '@ant-design/icons';
import type { MenuProps } from 'antd';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { read, type Both } from '../contract/texts.ts';
import { menuIcons } from '../parts/show/menu-icons.tsx';
import { opens, type Profile } from '../parts/show/profile.ts';
import { addressOf, directories, screens } from './screens.ts';

type MenuRecord = Profile['menus'][number];

// A changed title is shown as it is; a built-in one in the language of the page.
const titleOf = (menu: MenuRecord, known: Both | undefined): string =>
  known && known.includes(menu.title) ? read(known) : menu.title;

type Items = NonNullable<MenuProps['items']>;

const iconOf = ({ icon }: MenuRecord): ReactNode =>
  icon ? (menuIcons.get(icon) ?? <FolderOutlined />) : undefined;

/** The entries, those that are pinned first. */
export function menuItems(profile: Profile, pinned: readonly string[]): Items {
  const all = menuScreens(profile);
  const onTop = pinned.flatMap((address) => all.filter((one) => one.address === address));
  return [
    ...onTop.map(({ address, title }) => ({
      key: `pinned ${address}`,
      icon: <PushpinOutlined />,
      label: <Link to={address}>{title}</Link>,
    })),
    ...(onTop.length > 0 ? [{ type: 'divider' as const }] : []),
    ...itemsOf(profile, profile.menus),
  ];
}

function itemsOf(profile: Profile, menus: readonly MenuRecord[]): Items {
  return menus.flatMap((menu): Items => {
    if (menu.is_hidden) return [];
    const children = itemsOf(profile, menu.children ?? []);
    const [only] = children;
    const icon = iconOf(menu);
    if (children.length === 1 && only) return [{ ...only, icon } as Items[number]];
    if (children.length > 0)
      return [{ key: `d-${menu.slug}`, icon, label: titleOf(menu, directories.get(menu.slug)), children }];
    const screen = screens.get(menu.slug);
    if (!screen || !opens(profile, screen.opens)) return [];
    const address = addressOf(menu.slug, screen);
    return [{ key: address, icon, label: <Link to={address}>{titleOf(menu, screen.title)}</Link> }];
  });
}

/** The directory of an entry, to be unfolded. */
export function directoryOf(items: Items, key: string): string[] {
  const found = items.find(
    (item) => item && 'children' in item && item.children?.some((one) => one?.key === key),
  );
  return found?.key === undefined ? [] : [String(found.key)];
}

interface MenuScreen {
  address: string;
  title: string;
}

/** All screens of the menu. */
export function menuScreens(profile: Profile, menus: readonly MenuRecord[] = profile.menus): MenuScreen[] {
  return menus.flatMap((menu) => {
    const screen = screens.get(menu.slug);
    const own =
      screen && !menu.is_hidden && opens(profile, screen.opens)
        ? [{ address: addressOf(menu.slug, screen), title: titleOf(menu, screen.title) }]
        : [];
    return [...own, ...menuScreens(profile, menu.children ?? [])];
  });
}

/** Where somebody begins: the first screen of the menu, or the first one they may open. */
export function firstAddress(profile: Profile): string {
  const [inMenu] = menuScreens(profile);
  if (inMenu) return inMenu.address;
  const [slug, screen] = [...screens].find(([, one]) => opens(profile, one.opens)) ?? [];
  return slug && screen ? addressOf(slug, screen) : '/access/profile';
}
