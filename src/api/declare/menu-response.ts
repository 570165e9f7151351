// The shape of a menu in answers, shared by the profile and the menu resource.
import Joi from 'joi';
import { integer, text, textOrNull, timestamp, forestOf, resource } from './response.js';

const keys = {
  id: integer(),
  parent_id: integer(),
  title: text(),
  slug: text(),
  icon: textOrNull(),
  path: textOrNull(),
  component: textOrNull(),
  type: Joi.number().valid(1, 2, 3).required(),
  status: integer(),
  sort: integer(),
  is_hidden: integer(),
  link_type: integer(),
  open_type: integer(),
  no_cache: integer(),
  created_at: timestamp(),
  updated_at: timestamp(),
};

export const menuRecord = resource('Menu', keys);

export const menuForest = forestOf('MenuNode', keys);
