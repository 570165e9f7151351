// Why a row was not imported, in both languages; `{detail}` is a row number, a limit or an amount.
import { fill, say, type Language, type Text } from '../../lib/values/language.js';
import { maxAmount } from '../../lib/values/money.js';

const texts = {
  required: { zh: '必填', en: 'is required' },
  key: { zh: '必须是正整数', en: 'must be a positive integer' },
  money: {
    zh: `必须是 0 到 ${maxAmount}、最多两位小数的金额`,
    en: `must be an amount from 0 to ${maxAmount} with at most two decimals`,
  },
  quantity: { zh: '必须是 1 到 {detail} 的整数', en: 'must be an integer from 1 to {detail}' },
  too_long: { zh: '长度不能超过 {detail} 个字符', en: 'must be at most {detail} characters long' },
  control: {
    zh: '不能包含控制字符、方向控制符或不完整的字符',
    en: 'must not contain control characters, direction overrides or halves of characters',
  },
  too_many_cells: { zh: '该行的单元格多于表头', en: 'The row has more cells than the header row' },
  user_unknown: { zh: '用户不存在', en: 'The user does not exist' },
  user_mismatch: { zh: '不是编号为 {detail} 的用户', en: 'is not the name of user {detail}' },
  user_disabled: { zh: '用户已被禁用', en: 'The user is disabled' },
  differs: {
    zh: '与同一订单第 {detail} 行的值不一致',
    en: 'differs from row {detail} of the same order',
  },
  amount_mismatch: {
    zh: '与明细合计 {detail} 不一致',
    en: 'is not the sum of the details, {detail}',
  },
  amount_too_large: { zh: '订单金额超出上限', en: 'The amount of the order is too large' },
  too_many_lines: {
    zh: '一个订单最多 {detail} 行',
    en: 'An order may have {detail} rows at most',
  },
  order_rejected: {
    zh: '同一订单的第 {detail} 行有误，整个订单未导入',
    en: 'Row {detail} of the same order is not acceptable, so the order was not imported',
  },
} as const satisfies Record<string, Text>;

export type ImportReason = keyof typeof texts;

export function reasonText(reason: ImportReason, detail: string, language: Language): string {
  return fill(say(texts[reason], language), { detail });
}
