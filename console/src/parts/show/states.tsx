// States with a name and a tone: pending, paid, failed …, for badges and choices.
import { read, type Both } from '../../contract/texts.ts';

export type Tone = 'grey' | 'blue' | 'green' | 'gold' | 'red';

export type States<K extends string> = Readonly<
  Record<K, readonly [chinese: string, english: string, tone: Tone]>
>;

/** Declares states; the contract checks that none is missing. */
export const states = <K extends string>(all: States<K>): States<K> => all;

/** Undefined for a value that is none of them: values are data, and must not find what every object inherits. */
const known = (all: States<string>, value: string | number | boolean) =>
  Object.hasOwn(all, String(value)) ? all[String(value)] : undefined;

export function Badge({ states: all, value }: { states: States<string>; value: string | number | boolean }) {
  return <Tag tone={toneOf(all, value)}>{nameOf(all, value)}</Tag>;
}

export function Tag({ tone, children }: { tone: Tone; children: React.ReactNode }) {
  return <span className={`tag tag-${tone}`}>{children}</span>;
}

export const enabled = states({ 1: ['启用', 'Enabled', 'green'], 0: ['停用', 'Disabled', 'grey'] });
export const yesNo = states({ true: ['是', 'Yes', 'blue'], false: ['否', 'No', 'grey'] });

/** Its name; a value that is none of them is shown as it is. */
export const nameOf = (all: States<string>, value: string | number | boolean): string => {
  const state = known(all, value);
  return state ? read([state[0], state[1]] as Both) : String(value);
};

export const toneOf = (all: States<string>, value: string | number | boolean): Tone =>
  known(all, value)?.[2] ?? 'grey';

/** Whether a text, of an address for example, is one of them. */
export const isOneOf = (all: States<string>, text: string): boolean => known(all, text) !== undefined;
