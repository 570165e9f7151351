// Secrets outside production: generated once and stored in `.local/`.
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { projectRoot } from './environment.js';

/**
 * Reads the secret of that name, creating it if missing. For concurrent processes a complete file is linked
 * into place, so that all read the same value.
 */
export function localSecret(name: string): string {
  const folder = resolve(projectRoot, '.local');
  const file = resolve(folder, name.toLowerCase().replaceAll('_', '-'));
  const existing = readIfThere(file);
  if (existing) return existing;
  mkdirSync(folder, { recursive: true });
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, randomBytes(32).toString('hex'), { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return readFileSync(file, 'utf8');
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8') || undefined;
  } catch {
    return undefined;
  }
}
