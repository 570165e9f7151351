// A refusal as the files of this folder list it.

export interface CatalogueEntry {
  status: number;
  code: number;
  zh: string;
  en: string;
}

type Outcome = readonly [status: number, code: number, zh: string, en: string];

/** @param listed by slug; `{name}` in a text is replaced by the error's parameter */
export function outcomes<Slug extends string>(listed: Record<Slug, Outcome>): Record<Slug, CatalogueEntry> {
  const entries = Object.entries<Outcome>(listed).map(([slug, [status, code, zh, en]]) => [slug, { status, code, zh, en }]);
  return Object.fromEntries(entries) as Record<Slug, CatalogueEntry>;
}
