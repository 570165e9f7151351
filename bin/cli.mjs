#!/usr/bin/env node
// `npx back-office …` and `npm run cli -- …`: the command line of src/api/cli, compiled first where there is a compiler.
import { existsSync } from 'node:fs';

import { COMPILER, ensureBuild } from './build.mjs';
import { createLocalHome } from './local-home.mjs';
import { findRunningServers, loadSettings } from './services.mjs';
import { complain } from './step.mjs';

try {
  if (existsSync(COMPILER)) {
    createLocalHome();
    await ensureBuild();
  }
  loadSettings();
  Object.assign(process.env, await findRunningServers());
  await import(new URL('../build/src/api/cli/main.js', import.meta.url).href);
} catch (error) {
  complain(error);
  process.exitCode = 1;
}
