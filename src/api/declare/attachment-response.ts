// An attachment in answers.
import { keysOf, recordOrNull, resource, text } from './response.js';
import { Admin } from '../../models/access/tables.js';
import { Attachment } from '../../models/files/tables.js';

export const attachment = resource('Attachment', {
  ...keysOf(Attachment),
  admin: recordOrNull(keysOf(Admin, 'id', 'username')),
  url: text(),
});
