// Runs a benchmark to its end: in bounded time, with everything it started and made removed, and a truthful exit code.
import { stopProcesses } from './processes.js';
import { say } from './report.js';
import { removeSites } from './site.js';

/** Exit code 0: everything was measured, whether or not the targets were reached; 1: something went wrong. */
export async function runBench(bench: () => Promise<void>, maxMs = 420_000): Promise<never> {
  const startedAt = performance.now();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void finish(1));
  setTimeout(() => {
    console.error(`the benchmark takes longer than ${maxMs / 1000} s`);
    void finish(1);
  }, maxMs).unref();
  let code = 0;
  try {
    await bench();
    say(`\nmeasured in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  } catch (error) {
    console.error(error);
    code = 1;
  }
  return finish(code);
}

async function finish(code: number): Promise<never> {
  try {
    await stopProcesses();
    await removeSites();
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
  return process.exit(code);
}
