// `node bin/needs.mjs nginx systemd-analyze:systemd`: programs that a suite needs, each Debian's package of the same name or of the one
// behind the colon; installed when missing.
import { canInstall, install } from './apt.mjs';
import { command } from './lifetime.mjs';
import { findProgram } from './process.mjs';
import { Failure } from './step.mjs';

command(async () => {
  const missing = process.argv.slice(2).flatMap((need) => {
    const [program = '', wanted = program] = need.split(':');
    return findProgram(program) ? [] : [wanted];
  });
  if (missing.length === 0) return 0;
  if (!canInstall())
    throw new Failure(
      `Missing: ${missing.join(', ')}. Packages can only be installed as root on Debian or Ubuntu: sudo apt-get install ${missing.join(' ')}`,
    );
  await install(missing);
  return 0;
});
