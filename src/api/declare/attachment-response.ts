// An attachment as it is answered.
import Joi from 'joi';
import { fileTypes } from '../../lib/files/file-kinds.js';
import { integer, recordOrNull, resource, text, timestamp } from './response.js';

export const attachment = resource('Attachment', {
  id: integer(),
  filename: text(),
  display_name: text(),
  extension: text(),
  mime_type: text(),
  size: integer(),
  type: Joi.string()
    .valid(...fileTypes)
    .required(),
  sha256: text(),
  admin_id: integer(),
  admin: recordOrNull({ id: integer(), username: text() }),
  created_at: timestamp(),
  updated_at: timestamp(),
  url: text(),
});
