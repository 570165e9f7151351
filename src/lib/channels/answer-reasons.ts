// Why an answer of a company is not believed.
import type { Text } from '../values/language.js';
import { maskText } from '../secrets/mask.js';

export const forged = {
  zh: '渠道应答的签名无效',
  en: 'the answer of the channel carries no valid signature',
};
export const unreadable = { zh: '渠道应答无法识别', en: 'the answer of the channel cannot be read' };
export const foreign = {
  zh: '渠道应答与这笔支付不符',
  en: 'the answer of the channel is about another payment or merchant',
};

/** The same reason with the words of the company, which prove nothing. */
export const withWords = ({ zh, en }: Text, words: string): Text => ({
  zh: `${zh} (${words})`,
  en: `${en} (${words})`,
});

const maxReason = 200;

/** Words of a company as people may read them: without control characters and secrets, up to 200 characters. */
export function readable(reason: string): string {
  const line = maskText(reason.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')).trim();
  return [...line].slice(0, maxReason).join('') || '?';
}
