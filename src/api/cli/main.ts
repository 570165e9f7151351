// The command line of the operators: npx back-office …, or npm run cli -- …. It works without the API.
import '../../../config/command-line.js';
import { Command } from 'commander';
import { config } from '../../../config/index.js';

const payments = () => import('./payments.js');
const maintenance = () => import('./maintenance.js');

type Load = () => Promise<{ add: Partial<Record<string, (command: Command) => void>> }>;

/** Where each is, and what it is for. */
const commands: Record<string, [load: Load, description: string]> = {
  admin: [() => import('./admins.js'), 'administrators: list, create, password, unlock'],
  migrate: [() => import('./migrate.js'), 'the database schema: up, status'],
  jobs: [() => import('./jobs.js'), 'background work: queues, list, retry, drop'],
  payments: [payments, 'payments: stuck, ask, follow'],
  callbacks: [payments, 'payment callbacks: redrive'],
  refunds: [payments, 'refunds: ask'],
  blacklist: [maintenance, 'addresses turned away: list, remove'],
  cache: [maintenance, 'copies that processes keep: renew'],
  key: [maintenance, 'APP_KEY: status, accept'],
  storage: [maintenance, 'where files are: status, accept'],
  prune: [maintenance, 'the nightly maintenance now: removes what is older than its retention'],
  verify: [() => import('./verify.js'), 'whether rows, files, sums and balances agree; exit code 1 if not'],
  doctor: [
    () => import('./doctor.js'),
    'checks settings, servers, clock, disk, partitions, key, books and queues; exit code 1 on a fault',
  ],
  demo: [() => import('./demo.js'), 'makes data up for a trial, once; not in production'],
};

const program = new Command('back-office')
  .description('Operates the service; works while the API is down.')
  .version(config.version)
  .option('--json', 'answers data instead of lines')
  .option('--log', 'writes the log of what is done, too')
  .option('-y, --yes', 'does not ask')
  .showHelpAfterError('("--help" lists what there is)')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .addHelpText(
    'after',
    '\nExit codes: 0 done, 1 failed or not well, 2 called wrongly, 78 settings cannot be used.',
  );

for (const [name, [load, description]] of Object.entries(commands)) {
  const command = program.command(name).description(description);
  // To load all takes a second.
  if (process.argv.includes(name)) (await load()).add[name]?.(command);
}

await program.parseAsync();
