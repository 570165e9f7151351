// Ends a process with invalid settings.
import type { UnusableSettings } from './environment.js';

/** EX_CONFIG of sysexits.h; supervisors do not restart it (ecosystem.config.js). */
const badSettings = 78;

/** Ends the process with a list of problems, or with one log line in production. */
export async function refuseSettings({ problems, message }: UnusableSettings): Promise<never> {
  const isForLog = process.env.NODE_ENV === 'production' && !process.stderr.isTTY;
  const line = {
    level: 'fatal',
    time: new Date().toISOString(),
    pid: process.pid,
    problems,
    msg: 'the configuration is not usable',
  };
  const [output, text] = isForLog ? [process.stdout, JSON.stringify(line)] : [process.stderr, message];
  // Of an API in its cluster mode PM2 logs what passes through this stream, and writes it later.
  await new Promise((written) => output.write(`${text}\n`, 'utf8', written));
  return process.exit(badSettings);
}
