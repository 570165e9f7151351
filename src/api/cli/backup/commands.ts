// back-office backup …, restore …, verify …: data that survives the loss of the machine.
import type { Command } from 'commander';
import { does } from '../command.js';
import { makeBackup } from './make.js';
import { askToOverwrite, restoreBackup } from './restore.js';
import { verify, verifyBackup } from './verify.js';

export function addBackupCommands(program: Command): void {
  does(
    program
      .command('backup')
      .argument('<folder>', 'where backups are kept; each gets a folder of its own there')
      .option('--keep <n>', 'removes all but the newest n')
      .option('--without-files', 'the database alone, when the store keeps its own copies')
      .description('keeps files and database; the service goes on'),
    makeBackup,
    { changes: true },
  );
  does(
    program
      .command('restore')
      .argument('<backup>', 'a folder that "backup" has made')
      .option('--overwrite', 'deletes what the database holds')
      .option('--without-files', 'the database alone')
      .option('--binlogs <folder>', 'binary logs of the lost server, to be replayed on top')
      .option('--until <time>', 'up to there, ISO 8601, as 2026-11-01T00:00:00Z')
      .description('puts a backup into an empty database and the storage; the service must be stopped'),
    restoreBackup,
    { anySchema: true, changes: true, asks: askToOverwrite },
  );
  const check = program
    .command('verify')
    .option('--backup <folder>', 'whether that backup is as it was written, instead')
    .description('whether rows, files, sums and balances belong together; exit code 1 if not');
  does(check, (given) => {
    const backup = given.option('backup');
    return backup === undefined ? verify() : verifyBackup({ ...given, args: [backup] });
  });
}
