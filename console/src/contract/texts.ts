// Texts stand beside the screen that shows them, in both languages and of one type: a missing one does not compile.
import { currentSettings, type Language } from './settings.ts';

export type Texts<T> = Readonly<T>;

/** Texts that read as those of the language chosen now. */
export function texts<T extends Record<string, unknown>>(both: {
  'zh-CN': T;
  'en-US': NoInfer<T>;
}): Texts<T> {
  return new Proxy(both['zh-CN'], {
    get: (_, key: string) => both[currentSettings().language][key],
  });
}

/** One text in both languages, as short as it can be written: Chinese, then English. */
export type Both = readonly [chinese: string, english: string];

export const read = ([chinese, english]: Both): string =>
  currentSettings().language === 'zh-CN' ? chinese : english;

/** The form of an English noun that goes with that number: plural(3, 'row', 'rows'). */
export const plural = (count: number, one: string, other: string): string =>
  new Intl.PluralRules('en-US').select(count) === 'one' ? one : other;

export const languages: Record<Language, string> = { 'zh-CN': '简体中文', 'en-US': 'English' };
