// The storage of this deployment, by setting; a driver is loaded when the first file is touched.
import { config } from '../../../config/index.js';
import type { Storage } from './storage.js';

let chosen: Promise<Storage> | undefined;

/** The driver that STORAGE_DRIVER names. */
export function storage(): Promise<Storage> {
  chosen ??= load();
  return chosen;
}

async function load(): Promise<Storage> {
  const { LocalStorage } = await import('./local.js');
  return new LocalStorage(config.storage.root);
}
