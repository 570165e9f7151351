// Verdicts of callbacks and reasons for attention, explained with advice.
import { read, type Both } from '../contract/texts.ts';

const giveBack: Both = [
  '点“退款”把款项退回渠道或用户余额，然后标记为已处理。',
  'Give it back with “Refund”, to the channel or the balance; then mark it as handled.',
];
const refund: Both = [
  '请核对渠道账单：多付或重复支付的款项在渠道后台退款，然后标记为已处理并写明退款单号。',
  'Compare with the channel statement. Refund there what was paid twice, then mark it as handled and note the refund number.',
];
const lookUp: Both = [
  '在渠道后台核对这笔交易：若确已付款，请联系渠道补发回调或为顾客退款；处理后标记并写明原因。',
  'Look up the trade at the channel. If the money arrived, have the callback sent again or refund the customer; then mark it as handled and note the reason.',
];

/** By slug: meaning and advice. */
const known: ReadonlyMap<string, readonly [meaning: Both, advice?: Both]> = new Map(
  Object.entries<readonly [meaning: Both, advice?: Both]>({
    order_not_payable: [
      ['款项已到账，但订单已无法支付', 'The money arrived when its order could no longer be paid'],
      giveBack,
    ],
    paid_twice: [['同一笔支付被付了两次', 'The payment was paid twice'], refund],
    payment_amount_mismatch: [
      ['渠道通知的金额与支付金额不一致', 'The channel reports a different amount'],
      lookUp,
    ],
    third_party_no_used: [
      ['第三方单号已属于另一笔支付', 'The third-party number already belongs to another payment'],
      lookUp,
    ],
    payment_third_party_no_used: [
      ['第三方单号已属于另一笔支付', 'The third-party number already belongs to another payment'],
      lookUp,
    ],
    refunded_elsewhere: [
      ['渠道报告了本服务没有发起的退款', 'The channel reports a refund that was not made here'],
      [
        '请在渠道后台核实退款金额；标记为已处理后才能再次退款。',
        'Look the refund up at the channel; nothing more is refunded here until it is marked as handled.',
      ],
    ],
    notice_unverified: [
      ['收到了本服务无法验证的通知', 'A callback arrived that cannot be verified here'],
      lookUp,
    ],
    channel_unanswered: [
      ['渠道始终没有给出最终结果', 'The channel never said what became of the payment'],
      lookUp,
    ],
    refund_failed: [
      ['渠道最终拒绝了退款，金额已释放', 'The channel refused it for good; its amount can be refunded again'],
      [
        '请与顾客确认其他退款方式，例如退到用户余额，然后标记为已处理。',
        'Agree on another way with the customer, such as the balance; then mark it as handled.',
      ],
    ],
    refund_stuck: [
      ['渠道无法完成退款或金额不一致', 'The channel cannot finish it, or refunded another amount'],
      [
        '请在渠道后台处理这笔退款；完成后这里会自动更新。',
        'Finish this refund at the channel; this page follows by itself.',
      ],
    ],
    refund_slow: [
      [
        '渠道 4 小时仍未受理退款，或 8 天仍未完成',
        'Not accepted by the channel for 4 hours, or not finished for 8 days',
      ],
      [
        '点“查询渠道”可看到渠道给出的原因，例如商户余额不足；请在渠道后台处理。',
        '“Query the channel” shows why, such as a lack of funds; act at the channel.',
      ],
    ],
    payment_gateway_not_implemented: [
      ['本服务还不能验证这个渠道的回调', 'Callbacks of this channel cannot be verified here'],
      lookUp,
    ],
    payment_merchant_mismatch: [
      [
        '通知属于其他商户、应用、卖家或币种',
        'A callback for another merchant, application, seller or currency',
      ],
      [
        '核对支付方式中的商户号、应用、卖家号与渠道后台是否一致，并在渠道后台核对这笔交易。',
        'Compare merchant, application and seller of the payment method with the account, and look up the trade at the channel.',
      ],
    ],
    payment_key_unavailable: [
      [
        '无法取得渠道的公钥，回调未能验证',
        'The key of the channel could not be fetched, so a callback was not verified',
      ],
      [
        '渠道会再次发送；请检查支付方式的密钥和外网连接，然后可以重放。',
        'The channel sends it again. Check the keys of the payment method and outgoing connections; then it can be replayed.',
      ],
    ],
    noted: [['已验证，没有款项到账', 'Verified; it reports no money']],
    payment_gateway_disabled: [
      ['渠道已停用，回调未被接受', 'The channel is disabled, so its callback was not accepted'],
      [
        '在部署设置 PAYMENT_GATEWAYS_ENABLED 中启用它。',
        'Enable it in the setting PAYMENT_GATEWAYS_ENABLED.',
      ],
    ],
    payment_sign_invalid: [
      ['签名不正确', 'wrong signature'],
      [
        '核对支付方式的密钥是否与渠道后台一致；若回调不是渠道发出的，无需处理。',
        'Compare the secret of the payment method with the one at the channel. If the channel did not send it, there is nothing to do.',
      ],
    ],
    payment_notify_invalid: [['内容不完整', 'incomplete']],
    payment_not_found: [
      ['回调所指的支付属于另一个渠道', 'A callback from another channel named this payment'],
    ],
    verified: [['已验证，正在入账', 'Verified, being settled']],
    paid: [['已入账', 'Settled']],
    already_paid: [['重复通知，已入账', 'Repeated; already settled']],
    paid_needs_attention: [['已到账，需要处理', 'Money arrived; needs attention']],
  }),
);

/** Meaning of a slug; other texts are shown as they are. */
export function meaningOf(slug: string): string {
  const meaning = known.get(slug)?.[0];
  return meaning ? read(meaning) : slug;
}

/** Verdicts whose meaning is why a callback was refused, and does not say that it was. */
const refusals: ReadonlySet<string> = new Set(['payment_sign_invalid', 'payment_notify_invalid']);

/** Meaning of the verdict on a callback, where it stands by itself. */
export const verdictOf = (slug: string): string =>
  refusals.has(slug) ? `${read(['已拒绝：', 'Refused: '])}${meaningOf(slug)}` : meaningOf(slug);

/** Advice, if known. */
export function adviceFor(slug: string): string | undefined {
  const advice = known.get(slug)?.[1];
  return advice && read(advice);
}
