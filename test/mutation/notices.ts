// Faults in the verification of the notices of payment companies.
import type { Fault } from './fault.js';

const wechat = 'src/lib/channels/wechat.ts';
const wechatApi = 'src/lib/channels/wechat-api.ts';
const wechatKeys = 'src/lib/channels/wechat-keys.ts';
const wechatRequest = 'src/lib/channels/wechat-request.ts';
const alipay = 'src/lib/channels/alipay.ts';
const intake = 'src/api/payment-notify.ts';
const flow = 'src/api/flows/callback.ts';
const ofOneCompany = 'test/trade/notices.test.ts';
const ofBoth = 'test/trade/results.test.ts';

export const notices: Fault[] = [
  {
    file: wechat,
    from: `if (!(await isSignedNotice(callback, config, signal))) return 'forged';`,
    to: `await isSignedNotice(callback, config, signal);`,
    breaks: 'what is sealed for us pays without a signature',
    test: ofOneCompany,
    match: 'a notice with *changes no state',
  },
  {
    file: wechatApi,
    from: `isSigned({ headers, body: raw }, key, receivedAt)`,
    to: `isSigned({ headers, body: JSON.stringify(JSON.parse(raw)) }, key, receivedAt)`,
    breaks: 'a body is verified as this service would write it',
    test: ofOneCompany,
    match: '*its body written otherwise*',
  },
  {
    file: wechatRequest,
    from: `difference <= clockDifferenceMs &&`,
    to: `difference >= 0 &&`,
    breaks: 'a captured notice is good for ever',
    test: ofOneCompany,
    match: 'a notice signed more than five minutes away*',
  },
  {
    file: wechatApi,
    from: `isSigned({ headers, body: raw }, key, receivedAt)`,
    to: `isSigned({ headers, body: raw }, key, now())`,
    breaks: 'a replay compares the clock of the notice with that of today',
    test: ofBoth,
    match: '*a refused notice is replayed*',
  },
  {
    file: wechat,
    from: `return content && isOwn(content, config) ? 'authentic' : 'foreign';`,
    to: `return content ? 'authentic' : 'foreign';`,
    breaks: 'the money of another merchant pays',
    test: ofBoth,
    match: '*a signed notice for another account*',
  },
  {
    file: wechat,
    from: `if (mchid !== mch_id) return false;`,
    to: ``,
    breaks: 'the merchant number is ignored',
    test: ofBoth,
    match: '*a signed notice for another account*',
  },
  {
    file: wechat,
    from: `appid === app_id && amount?.currency === 'CNY'`,
    to: `appid === app_id`,
    breaks: 'fen are taken for cents of any currency',
    test: ofBoth,
    match: '*a signed notice for another account*',
  },
  {
    file: wechat,
    from: `if (!isPaid(content)) return {`,
    to: `if (!content.trade_state) return {`,
    breaks: 'a transaction that is closed pays',
    test: ofBoth,
    match: '*notices that report no money*',
  },
  {
    file: wechatKeys,
    from: `if (!certificate || certificate.until <= now())`,
    to: `if (!certificate || certificate.until)`,
    breaks: 'a good certificate counts for nothing while the list of WeChat is away',
    test: ofOneCompany,
    match: 'a known certificate*',
  },
  {
    file: wechatKeys,
    from: `serial.startsWith(publicKeyId)`,
    to: `serial.startsWith('0')`,
    breaks: 'the name of an unknown public key makes this service ask for certificates',
    test: ofOneCompany,
    match: 'while the platform changes*',
  },
  {
    file: wechatKeys,
    from: `timeSince(download.at) >= certificatesRestMs`,
    to: `timeSince(download.at) >= 0`,
    breaks: 'each notice under an unknown name makes this service ask for certificates',
    test: ofOneCompany,
    match: 'what does not open*',
  },
  {
    file: alipay,
    from: `!verifyRsa(signedText(fields), fields.sign ?? '', key)`,
    to: `!fields.sign`,
    breaks: 'any text is a signature of Alipay',
    test: ofOneCompany,
    match: 'a notice with a changed*',
  },
  {
    file: alipay,
    from: `.filter((name) => !unsigned.has(name))`,
    to: `.filter((name) => !unsigned.has(name) && fields[name])`,
    breaks: 'an empty field may be added to a signed notice',
    test: ofOneCompany,
    match: 'V3*',
  },
  {
    file: alipay,
    from: `new Set(['sign', 'sign_type'])`,
    to: `new Set(['sign'])`,
    breaks: 'sign_type counts as signed, so that no notice of Alipay is genuine',
    test: ofOneCompany,
    match: 'V3*',
  },
  {
    file: alipay,
    from: `fields.app_id === app_id && (seller_id`,
    to: `(seller_id`,
    breaks: 'the money of another application pays',
    test: ofBoth,
    match: '*a signed notice for another account*',
  },
  {
    file: alipay,
    from: `(seller_id === undefined || fields.seller_id === seller_id)`,
    to: `fields.seller_id !== ''`,
    breaks: 'the money of another seller pays',
    test: ofBoth,
    match: '*a signed notice for another account*',
  },
  {
    file: alipay,
    from: `if (!paid?.paidAt) return`,
    to: `if (!paid) return`,
    breaks: 'a refund pays whose fields are moved about',
    test: ofOneCompany,
    match: 'a field that is hidden*',
  },
  {
    file: alipay,
    from: `.test(trade_status) && !isRefund(fields)`,
    to: `.test(trade_status)`,
    breaks: 'a refund pays',
    test: ofBoth,
    match: '*notices that report no money*',
  },
  {
    file: flow,
    from: `if (authenticity === 'foreign') return 'payment_merchant_mismatch';`,
    to: ``,
    breaks: 'a foreign notice is taken for ours',
    test: ofBoth,
    match: '*a signed notice for another account*',
  },
  {
    file: intake,
    from: `  if (judged === 'payment_merchant_mismatch') return { reason: judged };
`,
    to: ``,
    breaks: 'a foreign notice is not flagged',
    test: ofBoth,
    match: '*a signed notice for another account*',
  },
  {
    file: flow,
    from: `  const callback = await recordVerified({ ...attempt, third_party_no });`,
    to: `  void recordVerified({ ...attempt, third_party_no }).catch(() => undefined);
  const callback = { id: 0, period: 0 };`,
    breaks: 'a notice is acknowledged before it is committed',
    test: ofBoth,
    match: '*no yes before*',
  },
  {
    file: intake,
    from: `const { payment, accepted } = await accept(channel, callback, ctx);`,
    to: `const { payment, accepted } = await accept(channel, callback, ctx).catch(() => ({ payment: { payment_no: '', order_no: '' }, accepted: undefined }));`,
    breaks: 'a notice is acknowledged while the database is away',
    test: 'test/faults/database.test.ts',
    match: '*a notice is answered 503*',
  },
  {
    file: 'src/models/trade/payment-settlement.ts',
    from: `p.pay_time = COALESCE(c.paid_at, c.created_at)`,
    to: `p.pay_time = c.created_at`,
    breaks: 'money is booked on the day its notice came',
    test: ofOneCompany,
    match: 'whether an order can still be paid*',
  },
];
