// The menu of the administrator: the service decides what is visible, the console what each entry opens.
import {
  ControlOutlined,
  CreditCardOutlined,
  DashboardOutlined,
  FileTextOutlined,
  FolderOutlined,
  SettingOutlined,
  ShoppingCartOutlined,
  UserOutlined,
} from '@ant-design/icons';
import type { MenuProps } from 'antd';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { read, type Both } from '../contract/texts.ts';
import type { Profile } from '../parts/profile.ts';
import { addressOfScreen, directories, screens } from './screens.ts';

type MenuRecord = Profile['menus'][number];

const icons: Readonly<Record<string, ReactNode>> = {
  dashboard: <DashboardOutlined />,
  setting: <SettingOutlined />,
  'file-text': <FileTextOutlined />,
  user: <UserOutlined />,
  'shopping-cart': <ShoppingCartOutlined />,
  'credit-card': <CreditCardOutlined />,
  control: <ControlOutlined />,
};

// A changed title is shown as it is; a built-in one in the language of the page.
const titleOf = (menu: MenuRecord, known: Both | undefined): string =>
  known && menu.title === known[0] ? read(known) : menu.title;

type Items = NonNullable<MenuProps['items']>;

export function menuItems(menus: readonly MenuRecord[]): Items {
  return menus.flatMap((menu): Items => {
    if (menu.is_hidden) return [];
    const icon = menu.icon ? (icons[menu.icon] ?? <FolderOutlined />) : undefined;
    const children = menuItems(menu.children ?? []);
    if (children.length > 0) {
      return [{ key: `d-${menu.slug}`, icon, label: titleOf(menu, directories[menu.slug]), children }];
    }
    const screen = screens[menu.slug];
    if (!screen) return [];
    const address = addressOfScreen(menu.slug);
    return [{ key: address, icon, label: <Link to={address}>{titleOf(menu, screen.title)}</Link> }];
  });
}

/** All screens of the menu, for the palette. */
export function menuScreens(menus: readonly MenuRecord[]): { address: string; title: string }[] {
  return menus.flatMap((menu) => {
    const screen = screens[menu.slug];
    const own =
      screen && !menu.is_hidden
        ? [{ address: addressOfScreen(menu.slug), title: titleOf(menu, screen.title) }]
        : [];
    return [...own, ...menuScreens(menu.children ?? [])];
  });
}
