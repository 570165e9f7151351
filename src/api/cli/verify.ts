// back-office verify: compares rows, files and sums.
import type { Command } from 'commander';
import pLimit from 'p-limit';
import { storage } from '../../lib/storage/index.js';
import { checkBooks } from '../../models/figures/consistency.js';
import { keptKeys, purposes, unknownKeys } from '../../models/files/stored-file.js';
import { does, table, type Outcome } from './command.js';

const asksAtOnce = 16;
const keysAtOnce = 2000;
const shown = 10;

export const add = { verify: (command: Command): void => does(command, verify) };

async function verify(): Promise<Outcome> {
  const [withoutFile, withoutRow] = [await rowsWithoutFile(), await filesWithoutRow()];
  const { months, contradictions } = await checkBooks();
  const faults = [
    ...faultOf('rows without file', withoutFile),
    ...faultOf('files without row', withoutRow),
    ...contradictions.map(({ what, count, first }) => `${count} ${what}: ${first.join(', ')}`),
  ];
  const isBad = faults.length > 0;
  return {
    data: {
      well: !isBad,
      rows_without_file: withoutFile,
      files_without_row: withoutRow,
      contradictions,
      months,
    },
    text: [table(months, 'there are no orders'), ...(isBad ? faults : ['rows, files and sums agree'])].join(
      '\n',
    ),
    isBad,
  };
}

const faultOf = (what: string, keys: readonly string[]): string[] =>
  keys.length > 0 ? [`${keys.length} ${what}: ${keys.slice(0, shown).join(', ')}`] : [];

async function rowsWithoutFile(): Promise<string[]> {
  const driver = await storage();
  const atOnce = pLimit(asksAtOnce);
  const missing: string[] = [];
  const check = async (key: string): Promise<void> => {
    if ((await driver.stat(key)) === undefined) missing.push(key);
  };
  for await (const keys of keptKeys()) await Promise.all(keys.map((key) => atOnce(check, key)));
  // A file deleted during the check no longer has an owner.
  const kept = new Set<string>();
  if (missing.length > 0) for await (const keys of keptKeys()) keys.forEach((key) => kept.add(key));
  return missing.filter((key) => kept.has(key)).sort();
}

/** A file has a row before it is written, so one without is always a fault, except while it is being removed. */
async function filesWithoutRow(): Promise<string[]> {
  const driver = await storage();
  const found: string[] = [];
  let block: string[] = [];
  const check = async (): Promise<void> => {
    for (const key of await unknownKeys(block)) if (await driver.stat(key)) found.push(key);
    block = [];
  };
  for await (const key of driver.keys(purposes)) if (block.push(key) === keysAtOnce) await check();
  await check();
  return found.sort();
}
