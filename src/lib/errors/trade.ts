// Users, balances, orders, payments, refunds, payment methods and the payment callback.
import { outcomes } from './outcomes.js';

export const trade = {
  ...outcomes(400, 400, {
    invalid_payment_type: ['未知的支付类型', 'The payment type is not known'],
    tenant_required: ['缺少租户标识', 'The tenant is missing'],
  }),
  ...outcomes(400, 30001, {
    payment_notify_invalid: ['支付通知无效', 'The callback is not valid'],
  }),
  ...outcomes(400, 30002, {
    payment_third_party_no_used: ['第三方交易号已被其他支付使用', 'The third-party number already paid another payment'],
  }),
  ...outcomes(400, 30003, {
    payment_not_found: ['支付记录不存在', 'The payment does not exist'],
  }),
  ...outcomes(400, 40001, {
    insufficient_balance: ['余额不足', 'The balance is not sufficient'],
    balance_limit_exceeded: ['余额超出上限', 'The balance would exceed the limit'],
    order_not_payable: ['订单当前状态不可支付', 'The order cannot be paid in its present state'],
    payment_beyond_channel: ['金额超出该支付渠道的限额（{min} 至 {max}）', 'The amount is beyond the limits of this channel, {min} to {max}'],
    order_expires_too_soon: ['订单即将过期，该支付渠道已无法受理', 'The order expires too soon for this channel'],
    order_being_paid: ['该订单的付款已到账，正在处理中', 'A payment for this order has arrived and is being settled'],
    payment_method_disabled: ['支付方式已停用', 'The payment method is switched off'],
    refund_not_waiting: ['该退款不在待审批状态', 'The refund does not wait for approval'],
    payment_gateway_disabled: ['支付网关未启用', 'The payment gateway is not enabled'],
    payment_sign_invalid: ['支付通知签名无效', 'The signature of the callback is not valid'],
    payment_amount_mismatch: ['支付金额不一致', 'The amount differs from the amount of the payment'],
    payment_merchant_mismatch: ['支付通知属于其他商户、应用、卖家或币种', 'The callback is for another merchant, application, seller or currency'],
    payment_callback_not_whole: [
      '这条回调没有完整保存，无法重新验签；请让支付公司重新发送',
      'The callback was not stored in full, so its signature cannot be verified again; have the payment company send it again',
    ],
  }),
  ...outcomes(400, 40002, {
    user_has_balance: ['用户余额不为零，无法删除', 'The user has a balance and cannot be deleted'],
    order_not_deletable: ['只有待支付或已取消的订单可以删除', 'Only pending or cancelled orders can be deleted'],
    payment_method_account_in_use: [
      '该支付方式在渠道仍有未完结的支付或退款，不能更换商户、应用或网关；请为新账户另建支付方式',
      'Payments or refunds of this method are still open at its company: create another method for the other merchant, application or gateway',
    ],
    payment_method_in_use: ['支付方式已被使用，请停用而不是删除', 'The payment method is used by payments; switch it off instead'],
  }),
  ...outcomes(400, 40003, {
    payment_attention_changed: ['该支付出现了新的待处理原因，请先查看', 'The payment now needs attention for another reason; look at it first'],
    refund_attention_changed: ['该退款出现了新的待处理原因，请先查看', 'The refund now needs attention for another reason; look at it first'],
    order_not_cancellable: ['只有待支付订单可以取消', 'Only a pending order can be cancelled'],
  }),
  ...outcomes(400, 40004, {
    user_disabled: ['用户已被禁用', 'The user is disabled'],
    payment_not_refundable: ['只有已支付的支付可以退款', 'Only a paid payment can be refunded'],
    payment_refunded_elsewhere: [
      '渠道报告了本服务没有发起的退款，请先核实并处理该支付的提醒',
      'The channel reports a refund that was not made here: check it, then mark the payment as handled',
    ],
    refund_exceeds_payment: ['退款金额超出可退金额 {left}', 'The amount is more than the {left} that is left to refund'],
    refund_too_late: ['支付已超过 {days} 天，该支付渠道不再受理退款', 'This channel takes no refunds {days} days after the payment'],
    refund_too_many: ['该支付渠道对一笔支付最多受理 {max} 次退款', 'This channel takes at most {max} refunds of one payment'],
    payment_method_incomplete: ['支付方式缺少验证支付结果所需的密钥：{keys}', 'The payment method lacks keys needed to verify its results: {keys}'],
  }),
  ...outcomes(403, 20003, {
    refund_own_request: ['不能审批自己发起的退款', 'You may not approve a refund that you requested'],
  }),
  ...outcomes(404, 404, {
    tenant_not_found: ['租户不存在', 'The tenant does not exist'],
  }),
  ...outcomes(404, 20002, {
    balance_log_not_found: ['余额记录不存在', 'The balance log does not exist'],
    user_not_found: ['用户不存在', 'The user does not exist'],
    order_not_found: ['订单不存在', 'The order does not exist'],
    refund_not_found: ['退款不存在', 'The refund does not exist'],
    payment_record_not_found: ['支付记录不存在', 'The payment does not exist'],
    payment_method_not_found: ['支付方式不存在', 'The payment method does not exist'],
    payment_callback_not_found: ['该支付没有这条回调记录', 'The payment has no such callback'],
  }),
  ...outcomes(422, 30001, {
    order_amount_mismatch: ['订单金额与明细合计不一致', 'The amount is not the sum of the details'],
    payment_gateway_unknown: ['未知的支付网关类型', 'The payment gateway type is not known'],
    payment_amount_not_equal: ['支付金额必须等于订单金额', 'The amount must equal the amount of the order'],
  }),
  ...outcomes(422, 30002, {
    request_id_reused: ['请求号已用于不同的余额变动', 'The request_id was used for a different change'],
    user_name_exists: ['用户名已存在', 'The username is taken'],
    idempotency_key_reused: ['幂等键已用于不同的请求', 'The Idempotency-Key was used for a different request'],
    payment_method_code_exists: ['支付方式编码已存在', 'The payment method code is taken'],
  }),
  ...outcomes(422, 30003, {
    user_unknown: ['所选用户不存在', 'The user referred to does not exist'],
    order_unknown: ['订单不存在', 'The order referred to does not exist'],
    payment_unknown: ['支付记录不存在', 'The payment referred to does not exist'],
    payment_method_unknown: ['所选支付方式不存在', 'The payment method referred to does not exist'],
  }),
  ...outcomes(422, 40003, {
    order_status_unsettable: ['订单状态只能改为已取消', 'The status of an order can only be changed to cancelled'],
  }),
  ...outcomes(501, 501, {
    payment_gateway_not_implemented: ['支付网关尚未实现该操作', 'The payment gateway does not implement this operation'],
  }),
  ...outcomes(503, 50001, {
    payment_secret_unreadable: [
      '支付方式的密钥无法用当前的 APP_KEY 打开，请重新填写',
      'The secrets of the payment method cannot be decrypted under this APP_KEY; enter them again',
    ],
    payment_key_unavailable: [
      '暂时无法取得支付公司的公钥，请稍后重新发送',
      'The key of the payment company is not available at present; send the callback again later',
    ],
  }),
};
