// A process whose clock is set back by an hour when it gets SIGUSR2, and right again at the next one.

const module = `
  const Real = Date;
  let ms = 0;
  process.on('SIGUSR2', () => (ms = ms === 0 ? -3_600_000 : 0));
  globalThis.Date = class extends Real {
    constructor(...given) { super(...(given.length > 0 ? given : [Real.now() + ms])); }
    static now() { return Real.now() + ms; }
  };`;

/** The settings of such a process. */
export const turnedClock = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(module)}` };
