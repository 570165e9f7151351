// Why a payment is not paid, with advice, at the top of its page.
import { useQuery } from '@tanstack/react-query';
import { Alert } from 'antd';
import { useEffect, useReducer } from 'react';
import { call } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { PageLink } from '../parts/show/page-link.tsx';
import { answers, useMay, useProfile, type Profile } from '../parts/show/profile.ts';
import { showAgo, showTime } from '../parts/show/time.ts';
import { mismatchOf, type Payment } from './story.tsx';
import { adviceFor, meaningOf } from './verdicts.ts';

const t = texts({
  title: ['为什么还没有支付成功？', 'Why is it not paid?'],
  attention: ['需要处理', 'Needs attention'],
  givenBack: [
    '款项已全部发起退款；退款完成后标记为已处理。',
    'All of it is refunded or about to be; once it is, mark the payment as handled.',
  ],
  mayNotRefund: [
    '您没有退款权限：请有权限的同事退款并标记为已处理。',
    'You may not refund: ask a colleague who may to do so and to mark it as handled.',
  ],
  ended: ['这笔支付不会再到账', 'This payment can no longer be paid'],
  otherPaid: ['订单已由另一笔支付付清', 'Another payment has paid the order'],
  orderCancelled: ['订单已取消', 'The order was cancelled'],
  orderPaid: ['订单已支付', 'The order is paid'],
  expired: [(at: string) => `订单已于 ${at} 过期`, (at) => `The order expired at ${at}`],
  expires: [
    (at: string) => `订单将于 ${at} 过期，之后不能再支付`,
    (at) => `The order expires at ${at}; it cannot be paid afterwards`,
  ],
  refused: [
    (reason: string) => `渠道没有受理：${reason}`,
    (reason) => `The channel did not take it: ${reason}`,
  ],
  placeAgain: [
    '排除原因后点击“获取付款信息”再次提交。',
    'Once the cause is fixed, choose “Get payment details” to send it again.',
  ],
  methodOff: ['支付方式已停用', 'The payment method is disabled'],
  methodAdvice: [
    '启用支付方式，或用另一种方式重新发起支付。',
    'Enable the method, or start a payment with another one.',
  ],
  silent: [
    (ago: string) => `${ago}创建，渠道还没有发来任何回调`,
    (ago) => `Created ${ago}; the channel has sent no callback yet`,
  ],
  silentAdvice: [
    '顾客可能尚未付款：把付款码再给一次。若渠道后台显示已付款，请检查其回调地址能否访问本服务，再补发通知。',
    'The customer may not have paid: send the payment details again. If the channel says paid, check that its callback URL reaches this service, and have the callback sent again.',
  ],
  closed: [
    '该渠道的结果尚未开放（PAYMENT_CHANNEL_RESULTS），回调会保存但不会入账',
    'The results of this channel are not open (PAYMENT_CHANNEL_RESULTS): its callbacks are stored, but not settled',
  ],
  settling: [
    '回调已收到并验证，正在入账，一般只需几秒',
    'A verified callback is being settled; this takes a few seconds',
  ],
  unsettled: [
    (ago: string) => `${ago}收到并验证了回调，但还没有入账`,
    (ago) => `A callback was verified ${ago}, but is not settled yet`,
  ],
  unsettledAdvice: [
    '款项不会丢失。请检查工作进程（worker）是否在运行，以及任务队列中是否有失败的任务。',
    'The money is not lost. Check that a worker is running, and whether a job has failed.',
  ],
  lastRefused: [
    (reason: string) => `最近的回调被拒绝：${reason}`,
    (reason) => `The latest callback was refused: ${reason}`,
  ],
});

type Order = NonNullable<Payment['order']>;

interface Reason {
  type: 'info' | 'warning' | 'error';
  text: string;
  advice?: string;
  /** The order or payment that explains it. */
  link?: string;
}

/**
 * @param wait why it may still be pending
 */
function reasonsOf(payment: Payment, wait: Wait, mayRefund: boolean): Reason[] {
  const { status, fail_reason, needs_attention } = payment;
  const attention: Reason[] =
    needs_attention && fail_reason
      ? [
          {
            type: 'warning',
            text: withAmounts(payment, fail_reason),
            advice: adviceOn(payment, fail_reason, mayRefund),
          },
        ]
      : [];
  if (status === 'paid') return attention;
  if (status !== 'pending') return [...attention, endOf(payment)];
  return [...attention, ...waitOf(payment, wait)];
}

// "Refund" is offered to those who may, while something is left.
function adviceOn({ refundable }: Payment, reason: string, mayRefund: boolean): string | undefined {
  if (reason !== 'order_not_payable') return adviceFor(reason);
  if (Number(refundable) === 0) return t.givenBack;
  return mayRefund ? adviceFor(reason) : t.mayNotRefund;
}

// The latest callback of that verdict knows the amounts.
function withAmounts(payment: Payment, verdict: string): string {
  const found = payment.callbacks.find((one) => one.verdict === verdict);
  const mismatch = found && mismatchOf(payment, found);
  return mismatch ? `${meaningOf(verdict)} · ${mismatch}` : meaningOf(verdict);
}

function endOf({ payment_no, order }: Payment): Reason {
  if (order?.payment_no && order.payment_no !== payment_no)
    return { type: 'info', text: t.otherPaid, link: `/trade/payments/${order.payment_no}` };
  if (order?.status === 'cancelled') return { type: 'info', text: endOfOrder(order) };
  return { type: 'info', text: t.ended };
}

const endOfOrder = ({ expire_at, cancelled_at }: Order): string =>
  expire_at && cancelled_at && expire_at <= cancelled_at ? t.expired(showTime(expire_at)) : t.orderCancelled;

interface Wait {
  /** Undefined when the caller may not see it. */
  isMethodOn: boolean | undefined;
  /** Why its channel settles no callback. */
  closed: Reason | undefined;
}

function waitOf(payment: Payment, { isMethodOn, closed }: Wait): Reason[] {
  const { order, callbacks, fail_reason, needs_attention, created_at } = payment;
  const verified = callbacks.find(({ state }) => state === 'pending');
  if (verified) return [settlingSince(verified.created_at)];
  const reasons: Reason[] = [];
  if (order?.status === 'paid') reasons.push({ type: 'warning', text: t.orderPaid });
  if (order?.status === 'cancelled') reasons.push({ type: 'error', text: endOfOrder(order) });
  if (isMethodOn === false) reasons.push({ type: 'error', text: t.methodOff, advice: t.methodAdvice });
  if (fail_reason && !needs_attention)
    reasons.push({ type: 'error', text: t.refused(fail_reason), advice: t.placeAgain });
  const last = callbacks.find(({ state }) => state === 'refused');
  if (last && last.verdict !== fail_reason)
    reasons.push({
      type: 'warning',
      text: t.lastRefused(withAmounts(payment, last.verdict)),
      advice: adviceFor(last.verdict),
    });
  if (closed) reasons.push(closed);
  if (!last && reasons.length === 0)
    reasons.push({ type: 'info', text: t.silent(showAgo(created_at)), advice: t.silentAdvice });
  if (order?.status === 'pending' && order.expire_at)
    reasons.push({ type: 'info', text: t.expires(showTime(order.expire_at)) });
  return reasons;
}

function closedOf(profile: Profile, payment: Payment): Reason | undefined {
  if (answers(profile, payment)) return undefined;
  if (profile.config.payment_gateways.some((type) => type === payment.payment_method?.type))
    return { type: 'warning', text: t.closed };
  const disabled = 'payment_gateway_disabled';
  return { type: 'error', text: meaningOf(disabled), advice: adviceFor(disabled) };
}

const isLateMs = 60_000;

const settlingSince = (at: string): Reason =>
  Date.now() - Date.parse(at) < isLateMs
    ? { type: 'info', text: t.settling }
    : { type: 'warning', text: t.unsettled(showAgo(at)), advice: t.unsettledAdvice };

export function Diagnosis({ payment }: { payment: Payment }) {
  const may = useMay();
  const { data: method } = useQuery({
    queryKey: ['payment-methods', 'one', String(payment.payment_method_id)],
    queryFn: ({ signal }) =>
      call('GET /api/admin/payment-methods/{id}', { path: { id: payment.payment_method_id }, signal }),
    enabled: payment.status === 'pending' && may('GET /api/admin/payment-methods/{id}'),
  });
  // How long it waits is said anew each minute.
  const [, sayAnew] = useReducer((times: number) => times + 1, 0);
  useEffect(() => {
    const timer = setInterval(sayAnew, 60_000);
    return () => clearInterval(timer);
  }, []);
  const wait = { isMethodOn: method?.is_active, closed: closedOf(useProfile(), payment) };
  const reasons = reasonsOf(payment, wait, may('POST /api/admin/refunds'));
  if (reasons.length === 0) return null;
  return (
    <section className="panel diagnosis" aria-label={payment.status === 'paid' ? t.attention : t.title}>
      <h2>{payment.status === 'paid' ? t.attention : t.title}</h2>
      {reasons.map(({ type, text, advice, link }) => (
        <Alert
          key={text}
          type={type}
          showIcon
          title={link ? <PageLink to={link}>{text}</PageLink> : text}
          description={advice}
        />
      ))}
    </section>
  );
}
