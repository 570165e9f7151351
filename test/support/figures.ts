// What the fault tests count, print and assert.
import type { ExecutionContext } from 'ava';

const words = {
  faults: 'faults injected',
  sent: 'requests sent',
  acknowledged: 'acknowledged',
  lost: 'lost',
  doubled: 'doubled',
  worstHangMs: 'worst hang (ms)',
  worstRecoveryMs: 'worst recovery (ms)',
} as const;

export type Figures = Record<keyof typeof words, number>;

/** No answer may take longer, whatever is unavailable. */
export const maxAnswerMs = 10_000;

/** Prints what was counted; nothing acknowledged may be lost or doubled, and no answer may have come late. */
export function mustHold(t: ExecutionContext, figures: Partial<Figures>): void {
  const names = (Object.keys(words) as (keyof Figures)[]).filter((name) => figures[name] !== undefined);
  t.log(names.map((name) => `${words[name]} ${figures[name]}`).join(', '));
  const { lost = 0, doubled = 0, worstHangMs = 0 } = figures;
  t.deepEqual([lost, doubled], [0, 0]);
  t.true(worstHangMs < maxAnswerMs, `an answer took ${worstHangMs} ms`);
}
