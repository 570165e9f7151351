// Clean-up at the end of a command, in reverse order, however it ends.
import { pathToFileURL } from 'node:url';

import { complain, Failure } from './step.mjs';

const PARENT_CHECK_MS = 200;
const SIGNAL_EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/** @typedef {() => unknown} Undo */
/** @type {Undo[]} */
const undoings = [];
/** @type {Promise<never> | undefined} */
let ending;

/** True from the moment the command has begun to stop; nothing new may be started then. */
export function isEnding() {
  return ending !== undefined;
}

/** Throws when the command is already stopping, so that nothing is started behind its back. */
export function refuseWhenEnding() {
  if (isEnding()) throw new Failure('stopped');
}

/**
 * Registers a clean-up for the end.
 *
 * @param {Undo} undo
 * @returns {() => Promise<void>} undoes it now, once
 */
export function atEnd(undo) {
  const once = async () => {
    const position = undoings.indexOf(once);
    if (position < 0) return;
    undoings.splice(position, 1);
    await undo();
  };
  undoings.push(once);
  return once;
}

/** Undoes everything and exits; later calls wait for the first one. @param {number} exitCode */
export function end(exitCode) {
  ending ??= undoEverything(exitCode);
  return ending;
}

/** Whether that module is the command itself, not a part of another one. @param {{ url: string }} meta */
export const isMain = ({ url }) => url === pathToFileURL(process.argv[1] ?? '').href;

/**
 * Runs a command from its first line to its exit code.
 *
 * @param {() => Promise<number | void>} main answers the exit code, or nothing when the command continues until a signal arrives
 * @param {{ endsBySignal?: boolean }} [options] a signal is the usual end of this command, and no failure
 */
export function command(main, { endsBySignal = false } = {}) {
  for (const [signal, code] of Object.entries(SIGNAL_EXIT_CODES))
    process.on(signal, () => void end(endsBySignal ? 0 : code));
  stopWithParent(() => void end(endsBySignal ? 0 : SIGNAL_EXIT_CODES.SIGTERM));
  // A closed terminal or pipe must not prevent the clean-up.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  main().then((exitCode) => (exitCode === undefined ? undefined : end(exitCode)), fail);
}

// SIGTERM ends npm and its shell, which may not forward it; then this process has lost its parent.
/** @param {() => void} stop */
function stopWithParent(stop) {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || stop(), PARENT_CHECK_MS).unref();
}

/** @param {unknown} error */
function fail(error) {
  if (isEnding()) return;
  complain(error);
  void end(1);
}

/** @param {number} exitCode @returns {Promise<never>} */
async function undoEverything(exitCode) {
  let worst = exitCode;
  for (let undo = undoings.at(-1); undo; undo = undoings.at(-1)) {
    try {
      await undo();
    } catch (error) {
      complain(error);
      worst ||= 1;
    }
  }
  process.exit(worst);
}
