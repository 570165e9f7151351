// Amounts as decimal strings with two places, never floats.
import { currentSettings } from '../../contract/settings.ts';

const form = /^-?\d{1,16}(\.\d{1,2})?$/;

/** Whether a text may be meant as an amount. */
export const isAmount = (text: string): boolean => form.test(text.trim());

/** What is typed or pasted, as an amount: without ¥ and commas between thousands, full-width digits as plain ones. */
export const typedAmount = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/[\s¥]/g, '')
    .replace('−', '-')
    .replace('。', '.')
    .replace(/,(?=\d{3}(?!\d))/g, '');

/** In cents. @throws SyntaxError when invalid */
export function toCents(text: string): bigint {
  const trimmed = text.trim();
  if (!isAmount(trimmed)) throw new SyntaxError(`${text} is no amount`);
  const [whole = '0', cents = ''] = trimmed.replace('-', '').split('.');
  const value = BigInt(whole) * 100n + BigInt(cents.padEnd(2, '0'));
  return trimmed.startsWith('-') ? -value : value;
}

export function fromCents(cents: bigint): string {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** For display: grouped in threes, two places, with the currency sign. */
export function showAmount(text: string): string {
  if (!isAmount(text)) return text;
  const exact = fromCents(toCents(text));
  const [whole = '', cents = ''] = exact.replace('-', '').split('.');
  const sign = exact.startsWith('-') ? '−' : '';
  return `${sign}¥${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${cents}`;
}

export const showCount = (count: number): string => count.toLocaleString(currentSettings().language);
