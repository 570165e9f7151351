// The shape of a menu in answers, shared by the profile and the menu resource.
import { forestOf, keysOf, resource } from './response.js';
import { Menu } from '../../models/access/tables.js';

const keys = keysOf(Menu);

export const menuRecord = resource('Menu', keys);

export const menuForest = forestOf('MenuNode', keys);
