// Every outcome a caller may see: slug → HTTP status, business code (spec.md, Errors) and text in both languages.
import { access } from './access.js';
import { files } from './files.js';
import { office } from './office.js';
import { trade } from './trade.js';
import { transport } from './transport.js';

export const errorCatalogue = {
  ...transport,
  ...access,
  ...office,
  ...files,
  ...trade,
};

export type ErrorSlug = keyof typeof errorCatalogue;
