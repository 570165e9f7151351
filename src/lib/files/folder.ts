// Private folders, and removal of their old temporary files.
import { chmod, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

export const privateFolder = 0o700;

/** Makes a folder private to this account. @throws when it belongs to another account */
export async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: privateFolder });
  const { mode } = await stat(folder);
  if ((mode & 0o077) !== 0) await chmod(folder, mode & privateFolder);
}

/** Removes the files last written before that instant. @returns their number */
export async function removeOldFiles(folder: string, before: Date): Promise<number> {
  let removed = 0;
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    // The process that wrote it may remove it at the same time.
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile() || found.mtime >= before) continue;
    await rm(path, { force: true });
    removed++;
  }
  return removed;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return [];
    throw error;
  }
}
