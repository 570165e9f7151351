// `npm run dev`: compiles on every change and reports when the compiled service has really changed.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { COMPILER, outputFingerprint, removeOrphans } from './build.mjs';
import { atEnd } from './lifetime.mjs';
import { stopProcess } from './process.mjs';
import { Failure, root, say } from './step.mjs';

const DEBOUNCE_MS = 200;

/** Keeps compiling; calls `onChange` after a compilation without errors that changed something. */
export function watchSources(onChange, onFailure) {
  const args = [COMPILER, '-p', '.', '--watch', '--preserveWatchOutput', '--locale', 'en'];
  const compiler = spawn(process.execPath, args, {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atEnd(() => stopProcess(compiler.pid));
  compiler.on('exit', (code) => onFailure(new Failure(`the TypeScript compiler ended with ${code}`)));

  let known = outputFingerprint();
  let timer;
  createInterface({ input: compiler.stdout }).on('line', (line) => {
    if (line.trim()) say(line);
    if (!/Found 0 errors/.test(line)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      removeOrphans();
      const current = outputFingerprint();
      if (current === known) return;
      known = current;
      onChange();
    }, DEBOUNCE_MS);
  });
}
