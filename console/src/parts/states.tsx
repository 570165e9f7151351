// States with a name and a tone: pending, paid, failed …, for badges and choices.
import { read, type Both } from '../contract/texts.ts';

export type Tone = 'grey' | 'blue' | 'green' | 'gold' | 'red';

export type States<K extends string> = Readonly<
  Record<K, readonly [chinese: string, english: string, tone: Tone]>
>;

/** Declares states; the contract checks that none is missing. */
export const states = <K extends string>(all: States<K>): States<K> => all;

export function Badge({ states: all, value }: { states: States<string>; value: string | number | boolean }) {
  const known = all[String(value)];
  return <Tag tone={known?.[2] ?? 'grey'}>{known ? read([known[0], known[1]]) : String(value)}</Tag>;
}

export function Tag({ tone, children }: { tone: Tone; children: React.ReactNode }) {
  return <span className={`tag tag-${tone}`}>{children}</span>;
}

export const enabled = states({ 1: ['启用', 'Enabled', 'green'], 0: ['停用', 'Disabled', 'grey'] });
export const yesNo = states({ true: ['是', 'Yes', 'blue'], false: ['否', 'No', 'grey'] });

export const nameOf = (all: States<string>, value: string | number): string => {
  const known = all[String(value)];
  return known ? read([known[0], known[1]] as Both) : String(value);
};
