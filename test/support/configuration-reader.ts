// Forked by the tests of the configuration: reads one environment after the other, which saves a process for each.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { config as Config } from '../../config/index.js';

let written = ['', '', ''];
let environments = 0;

// What would be written to a descriptor, and the code that would end the process, are answered.
fs.writeSync = (descriptor: number, text: unknown) => (written[descriptor] += String(text)).length;
syncBuiltinESMExports();
process.exit = (code) => {
  throw Object.assign(new Error('refused'), { code });
};

process.on('message', async (environment: Record<string, string>) => {
  process.env = environment;
  written = ['', '', ''];
  let code: unknown;
  // Another address makes another module.
  const address = `../../config/index.js?${environments++}`;
  try {
    const { config } = (await import(address)) as { config: typeof Config };
    written[1] = JSON.stringify(config);
  } catch (error) {
    ({ code } = error as { code: unknown });
  }
  process.send?.({ code, stdout: written[1], stderr: written[2] });
});
