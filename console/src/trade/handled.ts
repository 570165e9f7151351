// Why a payment or refund needs a person, and the action that says somebody has seen to it.
import type { Both } from '../contract/texts.ts';
import { custom, type Cell } from '../parts/show/cells.tsx';
import { meaningOf } from './verdicts.ts';

export const explained = (width: number): Cell<string | null> => ({
  ...custom((reason) => (reason ? meaningOf(reason) : '–'), width),
  grows: true,
});

interface Reported {
  needs_attention: boolean;
  fail_reason: string | null;
}

export const handled = {
  text: ['标记为已处理', 'Mark as handled'] as Both,
  many: true,
  when: ({ needs_attention }: Reported) => needs_attention,
  body: ({ fail_reason }: Reported) => ({ needs_attention: false, fail_reason: fail_reason ?? '' }),
};
