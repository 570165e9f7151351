// Outcomes of one HTTP status and business code.

export interface CatalogueEntry {
  status: number;
  code: number;
  zh: string;
  en: string;
}

/** @param texts slug → Chinese and English text; `{name}` is replaced by the error's parameter */
export function outcomes<Slug extends string>(
  status: number,
  code: number,
  texts: Record<Slug, readonly [zh: string, en: string]>,
): Record<Slug, CatalogueEntry> {
  const entries = Object.entries<readonly [zh: string, en: string]>(texts);
  return Object.fromEntries(entries.map(([slug, [zh, en]]) => [slug, { status, code, zh, en }])) as Record<Slug, CatalogueEntry>;
}
