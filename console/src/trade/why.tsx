// Why a payment is not paid, with advice, at the top of its page.
import { useQuery } from '@tanstack/react-query';
import { Alert } from 'antd';
import { Link } from 'react-router';
import { call, type Data } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { useMay } from '../parts/profile.ts';
import { showAgo, showTime } from '../parts/time.ts';
import { adviceFor, meaningOf } from './verdicts.ts';

const t = texts({
  'zh-CN': {
    ...{ title: '为什么还没有支付成功？', attention: '需要人工处理', ended: '这笔支付不会再到账' },
    otherPaid: '订单已由另一笔支付付清',
    ...{ orderCancelled: '订单已取消', orderPaid: '订单已支付' },
    expired: (at: string) => `订单已于 ${at} 过期`,
    expires: (at: string) => `订单将于 ${at} 过期，之后不能再支付`,
    refused: (reason: string) => `渠道没有受理：${reason}`,
    placeAgain: '排除原因后点击“取付款码”再次提交。',
    methodOff: '支付方式已停用',
    methodAdvice: '启用支付方式，或用另一种方式重新发起支付。',
    silent: (ago: string) => `创建于${ago}，渠道还没有发来任何回调`,
    silentAdvice:
      '顾客可能尚未付款：把付款码再给一次。若渠道后台显示已付款，请检查其回调地址能否访问本服务，再补发通知。',
    settling: '回调已收到并验证，正在入账，一般只需几秒',
    lastRefused: (reason: string) => `最近的回调被拒绝：${reason}`,
  },
  'en-US': {
    ...{ title: 'Why is it not paid?', attention: 'A person must look at this' },
    ...{ ended: 'This payment will not be paid any more', otherPaid: 'Another payment has paid the order' },
    ...{ orderCancelled: 'The order was cancelled', orderPaid: 'The order is paid' },
    expired: (at: string) => `The order expired at ${at}`,
    expires: (at: string) => `The order expires at ${at}; it cannot be paid afterwards`,
    refused: (reason: string) => `The channel did not take it: ${reason}`,
    placeAgain: 'When the cause is gone, hand it over again with “Payment code”.',
    methodOff: 'The payment method is switched off',
    methodAdvice: 'Switch the method on, or create a payment by another one.',
    silent: (ago: string) => `Created ${ago}; the channel has sent no callback yet`,
    silentAdvice:
      'The customer may not have paid: give them the payment code once more. If the channel says paid, check that its notify address reaches this service, and have the callback sent again.',
    settling: 'A callback came and is verified; it is being settled, which takes seconds',
    lastRefused: (reason: string) => `The latest callback was refused: ${reason}`,
  },
});

type Payment = Data<'GET /api/admin/payments/{id}'>;
type Order = Data<'GET /api/admin/orders/{id}'>;

interface Reason {
  type: 'info' | 'warning' | 'error';
  text: string;
  advice?: string;
  /** The order or payment that explains it. */
  link?: string;
}

/**
 * @param isMethodOn undefined when the caller may not see it
 */
export function reasonsOf(
  payment: Payment,
  order: Order | undefined,
  isMethodOn: boolean | undefined,
): Reason[] {
  const { status, fail_reason, needs_attention } = payment;
  const attention: Reason[] =
    needs_attention && fail_reason
      ? [{ type: 'warning', text: meaningOf(fail_reason), advice: adviceFor(fail_reason) }]
      : [];
  if (status === 'paid') return attention;
  if (status !== 'pending') return [...attention, endOf(payment, order)];
  return [...attention, ...waitOf(payment, order, isMethodOn)];
}

function endOf({ payment_no }: Payment, order: Order | undefined): Reason {
  if (order?.payment_no && order.payment_no !== payment_no)
    return { type: 'info', text: t.otherPaid, link: `/trade/payments/${order.payment_no}` };
  if (order?.status === 'cancelled') return { type: 'info', text: endOfOrder(order) };
  return { type: 'info', text: t.ended };
}

const endOfOrder = ({ expire_at }: Order): string =>
  expire_at && Date.parse(expire_at) <= Date.now() ? t.expired(showTime(expire_at)) : t.orderCancelled;

function waitOf(payment: Payment, order: Order | undefined, isMethodOn: boolean | undefined): Reason[] {
  const { callbacks, fail_reason, needs_attention, created_at } = payment;
  if (callbacks.some(({ state }) => state === 'pending')) return [{ type: 'info', text: t.settling }];
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
      text: t.lastRefused(meaningOf(last.verdict)),
      advice: adviceFor(last.verdict),
    });
  if (!last && reasons.length === 0)
    reasons.push({ type: 'info', text: t.silent(showAgo(created_at)), advice: t.silentAdvice });
  if (order?.status === 'pending' && order.expire_at)
    reasons.push({ type: 'info', text: t.expires(showTime(order.expire_at)) });
  return reasons;
}

export function Why({ payment }: { payment: Payment }) {
  const may = useMay();
  const { data: order } = useQuery({
    queryKey: ['orders', 'one', payment.order_no],
    queryFn: ({ signal }) => call('GET /api/admin/orders/{id}', { path: { id: payment.order_no }, signal }),
    enabled: may('GET /api/admin/orders/{id}'),
    meta: { scopes: ['orders', 'payments'] },
  });
  const { data: method } = useQuery({
    queryKey: ['payment-methods', 'one', String(payment.payment_method_id)],
    queryFn: ({ signal }) =>
      call('GET /api/admin/payment-methods/{id}', { path: { id: payment.payment_method_id }, signal }),
    enabled: payment.status === 'pending' && may('GET /api/admin/payment-methods/{id}'),
  });
  const reasons = reasonsOf(payment, order, method?.is_active);
  if (reasons.length === 0) return null;
  return (
    <section className="panel why" aria-label={payment.status === 'paid' ? t.attention : t.title}>
      <h2>{payment.status === 'paid' ? t.attention : t.title}</h2>
      {reasons.map(({ type, text, advice, link }) => (
        <Alert
          key={text}
          type={type}
          showIcon
          title={link ? <Link to={link}>{text}</Link> : text}
          description={advice}
        />
      ))}
    </section>
  );
}
