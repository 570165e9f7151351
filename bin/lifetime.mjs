// The end of a command: whatever it started is undone in reverse order, however the command ends.
import { complain, Failure } from './step.mjs';

const PARENT_CHECK_MS = 200;

const undoings = [];
let ending;

/** True from the moment the command has begun to stop; nothing new may be started then. */
export function isEnding() {
  return ending !== undefined;
}

/** Registers what must be undone at the end; returns a function that undoes it now, once. */
export function atEnd(undo) {
  const once = () => {
    const position = undoings.indexOf(once);
    if (position >= 0) undoings.splice(position, 1);
    return position >= 0 ? undo() : undefined;
  };
  undoings.push(once);
  return once;
}

/** Undoes everything and exits; later calls wait for the first one. */
export function end(exitCode) {
  ending ??= undoEverything(exitCode);
  return ending;
}

/**
 * Runs a command from its first line to its exit code. `main` returns the exit code, or nothing when the
 * command goes on until a signal arrives; `onSignal` decides the exit code after SIGINT, SIGTERM or SIGHUP.
 */
export function command(main, onSignal) {
  const stop = (signal) => {
    if (!isEnding()) void end(onSignal(signal));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  stopWithParent(() => stop('SIGTERM'));
  // A closed terminal or pipe must not keep us from stopping what we started.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  main().then((exitCode) => (exitCode === undefined ? undefined : end(exitCode)), fail);
}

/** Throws when the command is already stopping, so that nothing is started behind its back. */
export function refuseWhenEnding() {
  if (isEnding()) throw new Failure('stopped');
}

// A SIGTERM to npm ends npm and its shell, and the shell may not pass it on: then we notice that our
// parent is gone.
function stopWithParent(stop) {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || stop(), PARENT_CHECK_MS).unref();
}

function fail(error) {
  if (isEnding()) return undefined;
  complain(error);
  return end(1);
}

async function undoEverything(exitCode) {
  let worst = exitCode;
  while (undoings.length > 0) {
    try {
      await undoings.at(-1)();
    } catch (error) {
      complain(error);
      worst ||= 1;
    }
  }
  process.exit(worst);
}
