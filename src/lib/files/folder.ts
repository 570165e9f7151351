// Folders of files: only this account may read them, and what was forgotten among temporary ones is removed by its age.
import { chmod, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Mode of a folder that only this account may enter. */
export const privateFolder = 0o700;

/** Ensures a folder that only this account may enter. @throws when it belongs to another account */
export async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: privateFolder });
  const { mode } = await stat(folder);
  if ((mode & 0o077) !== 0) await chmod(folder, mode & privateFolder);
}

/** Removes the files of a folder that were last written before that instant. @returns how many */
export async function removeOldFiles(folder: string, before: Date): Promise<number> {
  let removed = 0;
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    // The process that wrote it may remove it at this moment.
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
