// Ends a process with invalid settings.
import { writeSync } from 'node:fs';
import type { UnusableSettings } from './environment.js';

/** EX_CONFIG of sysexits.h; supervisors do not restart it (ecosystem.config.js). */
const badSettings = 78;

/** Ends the process with a list of problems, or with one log line in production. */
export function refuseSettings({ problems, message }: UnusableSettings): never {
  const isForLog = process.env.NODE_ENV === 'production' && !process.stderr.isTTY;
  if (isForLog) {
    const line = {
      level: 'fatal',
      time: new Date().toISOString(),
      pid: process.pid,
      problems,
      msg: 'the configuration is not usable',
    };
    writeSync(1, `${JSON.stringify(line)}\n`);
  } else writeSync(2, `${message}\n`);
  return process.exit(badSettings);
}
