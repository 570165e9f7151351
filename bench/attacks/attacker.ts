// Attacks on demand, in a process of its own: what they cost their sender must not slow the honest client of bench:hostile.
import { attacks, Field, type Target } from './attacks.js';

interface Order {
  attack: string;
  target: Target;
}

process.on('message', ({ attack, target }: Order) => {
  const run = attacks[attack];
  if (!run) throw new Error(`there is no attack ${attack}`);
  const field = new Field(target);
  void run(field).then(() => process.send?.(field.end()));
});

process.send?.('ready');
