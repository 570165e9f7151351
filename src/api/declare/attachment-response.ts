// An attachment in answers.
import { described, keysOf, recordOrNull, resource, text } from './response.js';
import { Admin } from '../../models/access/tables.js';
import { Attachment } from '../../models/files/tables.js';

export const attachment = resource('Attachment', {
  ...described(keysOf(Attachment), { type: ['image, document, video or other'] }),
  admin: recordOrNull(keysOf(Admin, 'id', 'username')),
  url: text(),
});
