// The project's AVA settings, plus an observer that tells bin/test.mjs about every event of the run.
// (AVA's own TAP output breaks off at the first time-out or process.exit(): avajs/ava#3461.)
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { root } from './step.mjs';

export default async function settings() {
  return {
    ...(await projectSettings()),
    nonSemVerExperiments: { observeRunsFromConfig: true },
    observeRun,
  };
}

async function projectSettings() {
  const file = path.join(root, 'ava.config.js');
  if (!existsSync(file)) return JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).ava;
  const { default: exported } = await import(file);
  return typeof exported === 'function' ? exported({ projectDir: root }) : exported;
}

async function observeRun({ events }) {
  for await (const { type, testFile, title, skip, todo } of events) {
    process.send({ type, testFile, title, skip, todo });
  }
}
