// JSON numbers with more digits than a double holds; JSON.parse would round them silently.

/** Matches strings, to skip them, and whole numbers. */
const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** A cheap first test. */
const suspicious = /\d[\d.]{15}/;
/** Significant decimal digits of a double (IEEE 754-2008, 5.12.2). */
const exactDigits = 15;

/**
 * Quotes every number with too many digits, so that the schema decides.
 *
 * @returns undefined when there is none
 */
export function quoteLongNumbers(json: string): string | undefined {
  if (!suspicious.test(json)) return undefined;
  let found = false;
  const kept = json.replace(tokens, (token) => {
    if (token.startsWith('"') || !/[.eE]/.test(token) || significant(token) <= exactDigits) return token;
    found = true;
    return `"${token}"`;
  });
  return found ? kept : undefined;
}

function significant(number: string): number {
  const [mantissa = ''] = number.split(/[eE]/);
  return mantissa.replace(/^-|\./g, '').replace(/^0+/, '').length;
}
