// The two languages of the service and how a request chooses one.

export type Language = 'zh-CN' | 'en-US';

export const languages: readonly Language[] = ['zh-CN', 'en-US'];

export const defaultLanguage: Language = 'zh-CN';

/** A text in both languages. */
export interface Text {
  zh: string;
  en: string;
}

/**
 * Chooses the language from an Accept-Language header (RFC 9110, 12.5.4): the supported language with the
 * highest quality, the first one among equals, Simplified Chinese by default.
 */
export function languageOf(header: string | undefined): Language {
  if (!header) return defaultLanguage;
  let best: { language: Language; quality: number } | undefined;
  for (const part of header.split(',', 20)) {
    const [tag = '', ...parameters] = part.trim().split(';');
    const language = supported(tag.trim().toLowerCase());
    const quality = qualityOf(parameters);
    if (language && quality > (best?.quality ?? 0)) best = { language, quality };
  }
  return best?.language ?? defaultLanguage;
}

export function say(text: Text, language: Language): string {
  return language === 'en-US' ? text.en : text.zh;
}

/** Both languages, for a text stored once for all readers. */
export const inBoth = ({ zh, en }: Text): string => `${zh} / ${en}`;

/** Replaces each `{name}` with its value. */
export function fill(text: string, params: Record<string, string | number> = {}): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => String(params[name] ?? place));
}

function supported(tag: string): Language | undefined {
  if (tag === 'zh' || tag.startsWith('zh-') || tag === '*') return 'zh-CN';
  return tag === 'en' || tag.startsWith('en-') ? 'en-US' : undefined;
}

function qualityOf(parameters: string[]): number {
  const given = parameters
    .map((parameter) => /^\s*q=([01](?:\.\d{0,3})?)\s*$/.exec(parameter)?.[1])
    .find(Boolean);
  return given === undefined ? 1 : Number(given);
}
