// Faults in what is learned of payment companies by asking them.
import type { Fault } from './fault.js';

const wechatApi = 'src/lib/channels/wechat-api.ts';
const wechatTrade = 'src/lib/channels/wechat-trade.ts';
const wechatRefund = 'src/lib/channels/wechat-refund.ts';
const alipayRequest = 'src/lib/channels/alipay-request.ts';
const alipayTrade = 'src/lib/channels/alipay-trade.ts';
const alipayRefund = 'src/lib/channels/alipay-refund.ts';
const wechatResults = 'test/lib/wechat-results.test.ts';
const alipayResults = 'test/lib/alipay-results.test.ts';

export const results: Fault[] = [
  {
    file: wechatApi,
    from: `if (!(await isSignedAnswer(answer, config, signal)))
    throw`,
    to: `if (status < 300 && !(await isSignedAnswer(answer, config, signal)))
    throw`,
    breaks: 'anybody may say that a payment is unknown',
    test: wechatResults,
    match: 'a refusal without a valid signature*',
  },
  {
    file: wechatApi,
    from: `if (status === 429 || status >= 500) throw`,
    to: `if (status === 429) throw`,
    breaks: 'trouble of the company is taken for its final answer',
    test: wechatResults,
    match: 'other refusals decide nothing',
  },
  {
    file: wechatTrade,
    from: `status === 204 ? 'closed' : 'ask'`,
    to: `status < 300 ? 'closed' : 'ask'`,
    breaks: 'a payment is taken for closed while its customer enters a password',
    test: wechatResults,
    match: 'what cannot be closed*',
  },
  {
    file: wechatTrade,
    from: `['REFUND', 'paid'],`,
    to: `['REFUND', 'closed'],`,
    breaks: 'money that was refunded never came',
    test: wechatResults,
    match: 'what was paid and then refunded*',
  },
  {
    file: wechatTrade,
    from: `if (!isAbout(transaction, payment)) throw new ChannelFailure(foreign);`,
    to: `void isAbout;`,
    breaks: 'the answer about another payment counts',
    test: wechatResults,
    match: 'from a company that is*',
  },
  {
    file: wechatTrade,
    from: `if (transaction.amount?.currency !== 'CNY') throw`,
    to: `if (!transaction.amount) throw`,
    breaks: 'fen are taken for cents of any currency',
    test: wechatResults,
    match: 'from a company that is*',
  },
  {
    file: wechatRefund,
    from: `['PROCESSING', 'processing'],`,
    to: `['PROCESSING', 'succeeded'],`,
    breaks: 'what was accepted is done',
    test: wechatResults,
    match: 'a refund is accepted*',
  },
  {
    file: wechatRefund,
    from: `if (!final.has(body.code)) throw`,
    to: `if (body.code === undefined) throw`,
    breaks: 'a refund without funds has failed',
    test: wechatResults,
    match: 'without funds*',
  },
  {
    file: wechatRefund,
    from: `body.transaction_id === thirdPartyNo &&`,
    to: ``,
    breaks: 'the refund of another payment counts',
    test: wechatResults,
    match: 'an answer about another payment*',
  },
  {
    file: alipayRequest,
    from: `if (verifyRsa(raw, sign, key)) return content;`,
    to: `if (verifyRsa(JSON.stringify(content), sign, key)) return content;`,
    breaks: 'an answer is verified as this service would write it',
    test: alipayResults,
    match: 'the signed text is the raw one*',
  },
  {
    file: alipayRequest,
    from: `if (typeof sign === 'string') {`,
    to: `if (content.code === '40004') return content;
  if (typeof sign === 'string') {`,
    breaks: 'anybody may say that a payment is unknown',
    test: alipayResults,
    match: 'a refusal without a valid signature*',
  },
  {
    file: alipayTrade,
    from: `return wasPaid ? 'paid' : 'closed';`,
    to: `return 'closed';`,
    breaks: 'money that was refunded never came',
    test: alipayResults,
    match: 'a closed trade*',
  },
  {
    file: alipayTrade,
    from: `if (fields.out_trade_no !== paymentNo) throw`,
    to: `if (!fields.out_trade_no) throw`,
    breaks: 'the answer about another payment counts',
    test: alipayResults,
    match: 'from a company that is*',
  },
  {
    file: alipayTrade,
    from: `fields.code === '10000' && fields.out_trade_no === paymentNo ? 'closed'`,
    to: `fields.code ? 'closed'`,
    breaks: 'every answer closes',
    test: alipayResults,
    match: 'what cannot be closed*',
  },
  {
    file: alipayRefund,
    from: `if (answer.fund_change !== 'Y') return`,
    to: `if (!answer.fund_change) return`,
    breaks: 'what was received is done',
    test: alipayResults,
    match: 'a refund that was received only*',
  },
  {
    file: alipayRefund,
    from: `if (answer.code === '40004' && final.has(answer.sub_code))`,
    to: `if (answer.code === '40004')`,
    breaks: 'a refund without funds has failed',
    test: alipayResults,
    match: 'without funds*',
  },
  {
    file: alipayRefund,
    from: `if (namesAnother) throw new ChannelFailure(foreign);`,
    to: `void namesAnother;`,
    breaks: 'the answer about another refund releases this one',
    test: alipayResults,
    match: 'an answer that names another refund*',
  },
];
