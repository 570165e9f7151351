// The icons of the menu, by the names that a menu record may have.
import {
  ControlOutlined,
  CreditCardOutlined,
  DashboardOutlined,
  FileTextOutlined,
  SettingOutlined,
  ShoppingCartOutlined,
  UserOutlined,
} from '@ant-design/icons';
import type { ReactNode } from 'react';

export const menuIcons: ReadonlyMap<string, ReactNode> = new Map([
  ['dashboard', <DashboardOutlined />],
  ['setting', <SettingOutlined />],
  ['file-text', <FileTextOutlined />],
  ['user', <UserOutlined />],
  ['shopping-cart', <ShoppingCartOutlined />],
  ['credit-card', <CreditCardOutlined />],
  ['control', <ControlOutlined />],
]);
