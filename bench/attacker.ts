// Attacks on demand, in a process of its own: what they cost their sender must not slow the honest client of bench:hostile.
import { attacks, type Target } from './support/attacks.js';

interface Order {
  attack: string;
  target: Target;
}

process.on('message', ({ attack, target }: Order) => {
  const run = attacks[attack];
  if (!run) throw new Error(`there is no attack ${attack}`);
  void run(target).then((summary) => process.send?.(summary));
});

process.send?.('ready');
