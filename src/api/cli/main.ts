// The command line of the operators: npx back-office …, or npm run cli -- …. It works without the API.
import '../../../config/command-line.js';
import { Command } from 'commander';
import { config } from '../../../config/index.js';
import { addAdminCommands } from './admins.js';
import { exitCodes } from './command.js';
import { addDemoCommand } from './demo.js';
import { addDoctorCommand } from './doctor.js';
import { addJobCommands } from './jobs.js';
import { addMigrateCommands } from './migrate.js';
import { addPaymentCommands } from './payments.js';
import { addMaintenanceCommands } from './maintenance.js';
import { addVerifyCommand } from './verify.js';

const program = new Command('back-office')
  .description('Operates the service; works while the API is down.')
  .version(config.version)
  .option('--json', 'answers data instead of lines')
  .option('--log', 'writes the log of what is done, too')
  .option('-y, --yes', 'does not ask')
  .showHelpAfterError('("--help" lists what there is)')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitCodes.misused))
  .addHelpText(
    'after',
    '\nExit codes: 0 done, 1 failed or not well, 2 called wrongly, 78 settings cannot be used.',
  );

addAdminCommands(program);
addMigrateCommands(program);
addJobCommands(program);
addPaymentCommands(program);
addMaintenanceCommands(program);
addVerifyCommand(program);
addDoctorCommand(program);
addDemoCommand(program);

await program.parseAsync();
