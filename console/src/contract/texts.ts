// Texts are declared beside their screen, each as Chinese, then English, of one type: a missing one does not compile.
import { currentSettings, type Language, type Theme } from './settings.ts';

/** A text, or what makes one, in both languages. */
type Pair<T> = readonly [chinese: T, english: T];

export type Both = Pair<string>;

export const read = <T>([chinese, english]: Pair<T>): T =>
  currentSettings().language === 'zh-CN' ? chinese : english;

/** Texts by name, which always read as those of the current language. */
export function texts<T extends Record<string, unknown>>(both: {
  readonly [K in keyof T]: readonly [chinese: T[K], english: NoInfer<T[K]>];
}): Readonly<T> {
  return new Proxy({} as T, {
    // A name may be a value of the API, and must not find what every object inherits.
    get: (_, name: string) =>
      Object.hasOwn(both, name) ? read<unknown>(both[name] as Pair<unknown>) : undefined,
  });
}

/** Status: Paid */
export const labelled = (name: string, value: string): string => name + read(['：', ': ']) + value;

/** The English noun for that number: plural(3, 'row', 'rows'). */
export const plural = (count: number, one: string, other: string): string =>
  new Intl.PluralRules('en-US').select(count) === 'one' ? one : other;

export const languages: Record<Language, string> = { 'zh-CN': '简体中文', 'en-US': 'English' };

export const themes: Record<Theme, Both> = {
  light: ['浅色', 'Light'],
  dark: ['深色', 'Dark'],
  system: ['跟随系统', 'Follow the system'],
};
