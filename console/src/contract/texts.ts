// Texts are declared beside their screen, in both languages with one type: a missing one does not compile.
import { currentSettings, type Language, type Theme } from './settings.ts';

/** Texts that always read as those of the current language. */
export function texts<T extends Record<string, unknown>>(both: {
  'zh-CN': T;
  'en-US': NoInfer<T>;
}): Readonly<T> {
  return new Proxy(both['zh-CN'], {
    get(_, key: string) {
      const own = both[currentSettings().language];
      // A key may be a value of the API, and must not find what every object inherits.
      return Object.hasOwn(own, key) ? own[key] : undefined;
    },
  });
}

/** A text in both languages in short form: Chinese, then English. */
export type Both = readonly [chinese: string, english: string];

export const read = ([chinese, english]: Both): string =>
  currentSettings().language === 'zh-CN' ? chinese : english;

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
