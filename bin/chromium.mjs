// `npm run test:browser` needs Chromium: the installed one, else Debian's package.
import { canInstall, install } from './apt.mjs';
import { findProgram } from './process.mjs';
import { complain, Failure, step } from './step.mjs';

try {
  await step(async () => {
    if (findProgram('chromium')) return 'Chromium is installed';
    if (!canInstall()) throw new Failure('Chromium is missing; install it and run this again');
    await install(['chromium']);
    return 'installed Chromium';
  });
} catch (error) {
  complain(error);
  process.exitCode = 1;
}
