// The shape of a menu in answers, shared by the profile and the menu resource.
import { enabled, flag, forestOf, keysOf, resource } from './response.js';
import { Menu } from '../../models/access/tables.js';

const keys = { ...keysOf(Menu), status: enabled() };

export const menuRecord = resource('Menu', { ...keys, in_use: flag() });

export const menuForest = forestOf('MenuNode', keys);
