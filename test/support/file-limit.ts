// A disk that is full for one process alone: it may write no file beyond a size.

/**
 * The command of a process whose files end there; writing more fails (EFBIG) and does not end it.
 *
 * @param kib how large its files may grow, in KiB
 */
export const withFileLimit = (command: readonly string[], kib: number): [string, ...string[]] => [
  'bash',
  ...['-c', `trap '' XFSZ; ulimit -f ${kib}; exec "$@"`, 'bash'],
  ...command,
];
