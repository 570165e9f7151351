// A full disk for one process: it cannot write files beyond a size.

type Command = [program: string, ...args: string[]];

/**
 * The command of a process whose files end at that size; writing more fails (EFBIG) and does not end it.
 *
 * @param kib in KiB; undefined means no limit
 */
export const withFileLimit = (command: Command, kib: number | undefined): Command =>
  kib === undefined
    ? command
    : ['bash', '-c', `trap '' XFSZ; ulimit -f ${kib}; exec "$@"`, 'bash', ...command];
