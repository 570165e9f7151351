// `npm run test:browser` needs Chromium: the installed one, else Debian's package.
import { canInstall, install } from './apt.mjs';
import { command } from './lifetime.mjs';
import { findProgram } from './process.mjs';
import { Failure } from './step.mjs';

command(async () => {
  if (findProgram('chromium')) return 0;
  if (!canInstall()) throw new Failure('Chromium is missing; install it and run this again');
  await install(['chromium']);
  return 0;
});
