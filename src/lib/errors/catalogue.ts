// Every outcome a caller may see: slug → HTTP status, business code (spec.md, Errors) and text in both languages.
import { access } from './access.js';
import { callbacks } from './callbacks.js';
import { files } from './files.js';
import { logs } from './logs.js';
import { office } from './office.js';
import { trade } from './trade.js';
import { transfers } from './transfers.js';
import { transport } from './transport.js';

export type { CatalogueEntry } from './outcomes.js';

export const errorCatalogue = {
  ...transport,
  ...access,
  ...office,
  ...logs,
  ...files,
  ...transfers,
  ...trade,
  ...callbacks,
};

export type ErrorSlug = keyof typeof errorCatalogue;
