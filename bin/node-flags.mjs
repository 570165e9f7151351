// How V8 is told to start the processes of this service.

/**
 * Code is optimized after seven times as much running as V8 waits for by itself: what a start runs, it runs once. A quarter
 * less processor time until a process listens, and 14 MB less; what is hot is optimized all the same. Node.js 20 only: later
 * ones do not know the flag, but keep what they have compiled (NODE_COMPILE_CACHE).
 */
export const quickStart = process.versions.node.startsWith('20.') ? ['--interrupt-budget=1000000'] : [];

/**
 * V8 lets its young generation grow to three times 16 MiB; with 4 an API takes 35 MB less idle and 65 MB less in use, a worker
 * 25 MB less (40 MB on Node.js 24), at the same processor time.
 */
export const smallYoung = '--max-semi-space-size=4';
