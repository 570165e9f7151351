// Checks of the settings before a command starts or tests anything.
import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { keptPasswords } from './local-home.mjs';
import { isDatabaseConfigured } from './services.mjs';
import { Failure, note, root } from './step.mjs';

/**
 * Fails with the list of problems if the service cannot run with these settings, and says where the data of a
 * production without a configured database are stored. Needs the build.
 */
export function checkSettings() {
  const isOwn = !isDatabaseConfigured();
  if (isOwn && process.env.NODE_ENV === 'production')
    note('production data go to .local/ of this checkout; DB_HOST or DATABASE_URL names another server');
  checkSettingsOf(root, isOwn ? { ...process.env, DB_PASSWORD: keptPasswords().database } : process.env);
}

/** Fails with the list of what is wrong when a service built in that folder could not run so. @param {string} folder @param {NodeJS.ProcessEnv} env */
export function checkSettingsOf(folder, env) {
  const script = path.join(folder, 'build/config/index.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  if (status === 0) return;
  throw new Failure(stdout.startsWith('{') ? asList(JSON.parse(stdout)) : stderr.trimEnd());
}

/** Refuses to test against what a production service uses. */
export function refuseProduction() {
  if (process.env.NODE_ENV !== 'production' || process.env.TEST_ON_CONFIGURED === '1') return;
  throw new Failure(
    'The settings are those of production (NODE_ENV=production, in .env or the environment), and tests would use its servers.\n' +
      '  Run them elsewhere, or with TEST_ON_CONFIGURED=1 if that is what you want.',
  );
}

/** In production a process says it in one line of the log. @param {{ problems: string[] }} line */
function asList({ problems }) {
  return ['The configuration is not usable:', ...problems.map((problem) => `  - ${problem}`)].join('\n');
}
