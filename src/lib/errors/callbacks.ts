// The payment callback.
import { outcomes } from './outcomes.js';

export const callbacks = {
  ...outcomes(400, 400, {
    invalid_payment_type: ['未知的支付类型', 'The payment type is not known'],
    tenant_required: ['缺少租户标识', 'The tenant is missing'],
  }),
  ...outcomes(400, 30001, {
    payment_notify_invalid: ['支付通知无效', 'The payment notification is not valid'],
  }),
  ...outcomes(400, 30002, {
    payment_third_party_no_used: ['第三方交易号已被其他支付使用', 'The third-party number already paid another payment'],
  }),
  ...outcomes(400, 30003, {
    payment_not_found: ['支付记录不存在', 'The payment does not exist'],
  }),
  ...outcomes(400, 40001, {
    payment_sign_invalid: ['支付通知签名无效', 'The signature of the payment notification is not valid'],
    payment_amount_mismatch: ['支付金额不一致', 'The amount differs from the amount of the payment'],
    payment_merchant_mismatch: ['支付通知属于其他商户、应用、卖家或币种', 'The payment notification is for another merchant, application, seller or currency'],
    payment_callback_not_whole: [
      '这条回调没有完整保存，无法重新验签；请让支付公司重新发送',
      'The callback was not stored in full, so its signature cannot be verified again; have the payment company send it again',
    ],
  }),
  ...outcomes(404, 404, {
    tenant_not_found: ['租户不存在', 'The tenant does not exist'],
  }),
  ...outcomes(404, 20002, {
    payment_callback_not_found: ['该支付没有这条回调记录', 'The payment has no such callback'],
  }),
  ...outcomes(503, 50001, {
    payment_secret_unreadable: [
      '支付方式的密钥无法用当前的 APP_KEY 打开，请重新填写',
      'The secrets of the payment method cannot be decrypted under this APP_KEY; enter them again',
    ],
    payment_key_unavailable: [
      '暂时无法取得支付公司的公钥，请稍后重新发送',
      'The key of the payment company is not available at present; send the notification again later',
    ],
  }),
};
