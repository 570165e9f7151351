// Numbers of JSON bodies that a double cannot carry: parsed, they would be rounded without a word.

/** Texts are passed over; a number is matched whole. */
const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Seldom found, and cheaply. */
const suspicious = /\d[\d.]{15}/;
/** A double carries so many significant decimal digits (IEEE 754-2008, 5.12.2). */
const exactDigits = 15;

/**
 * The same JSON with every number of too many digits as a text of them, so that what reads it decides; undefined when there
 * is none.
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
