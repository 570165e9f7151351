// Masks secrets in values that are logged or stored, by key and by the shape of the value.

// `token_ids` are numbers of sessions.
const secretKey =
  /pass(word|wd)?|pwd|secret|token(?!_ids$)|ticket|jwt|authorization|cookie|(private|api(_?v\d)?|app|access|client|merchant|mch|partner|md5|aes|encrypt|sign)_?key|^key$|captcha|(^|_)sign(ature)?$|cert_serial|credential/i;
const secretShape =
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|\$2[aby]\$\d{2}\$[./A-Za-z0-9]{53}|\b[0-9a-fA-F]{64}\b|\bMII[A-Za-z0-9+/]{300,}={0,2}|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;
const masked = '***';
/** Deeper values are truncated. */
export const maxDepth = 8;
/** As many ids as a request may name. */
const maxItems = 2000;
const longest = 2000;
// Covers the longest secret that may begin just before the cut.
const overlap = 8192;

/**
 * A copy of the value with every secret as `***`: values under secret-looking keys, and tokens, password
 * hashes, 64-digit hex digests and keys (PEM or bare base64) within texts. Texts over 2,000 characters and
 * nesting over 8 levels are cut.
 */
export function mask(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return maskText(value);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (writesItself(value)) return mask(value.toJSON(), depth);
  if (depth >= maxDepth) return '…';
  if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => mask(item, depth + 1));
  const copy: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, item] of Object.entries(value))
    copy[name] = isSecret(name, item) ? masked : mask(item, depth + 1);
  return copy;
}

/** The text with tokens, password hashes, hex digests and keys masked. */
export function maskText(text: string): string {
  const safe = text.slice(0, longest + overlap).replace(secretShape, masked);
  return safe.length > longest ? `${safe.slice(0, longest)}…` : safe;
}

// Such as an amount, whose bigint JSON cannot write.
function writesItself(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

function isSecret(name: string, item: unknown): boolean {
  return secretKey.test(name) && item !== null && item !== undefined && typeof item !== 'boolean';
}
