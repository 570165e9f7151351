// What happened to a payment and when: each point has the instant at which it happened, and none moves afterwards.
import type { Data } from '../contract/api.ts';
import { labelled, read, texts, type Both } from '../contract/texts.ts';
import { Time } from '../parts/show/cells.tsx';
import { showAmount } from '../parts/show/money.ts';
import { PageLink } from '../parts/show/page-link.tsx';
import { Badge, nameOf, type Tone } from '../parts/show/states.tsx';
import { Json, type Point } from '../parts/show/timeline.tsx';
import { destinations, refundStates } from '../parts/show/trade-states.ts';
import { Replay } from './replay.tsx';
import { meaningOf, verdictOf } from './verdicts.ts';

const t = texts({
  created: ['支付单已创建', 'Payment created'],
  cancelled: ['支付已取消', 'Payment cancelled'],
  failed: ['支付失败', 'Payment failed'],
  settled: ['已到账，订单已支付', 'Settled: the order is paid'],
  unpaid: ['款项已到账，但订单未支付', 'The money arrived; the order was not paid'],
  otherPaid: [
    '款项已到账，但订单已由另一笔支付付清',
    'The money arrived; another payment had paid the order',
  ],
  callback: ['渠道回调', 'Channel callback'],
  answer: ['渠道的应答', 'Channel’s answer'],
  from: ['来自', 'from'],
  times: [(count: number) => `，共 ${count} 次`, (count) => `, ${count} times`],
  last: ['最近一次', 'last'],
  queried: [
    (count: number) => `已向渠道查询 ${count} 次`,
    (count) => `Asked the channel ${count === 1 ? 'once' : `${count} times`}`,
  ],
  said: ['最近的应答', 'last answer'],
  closing: ['正在渠道关闭', 'being closed there'],
  next: ['下次查询', 'next'],
  handled: [(reason: string) => `标记为已处理：${reason}`, (reason) => `marked as handled: ${reason}`],
  mismatch: [
    (expected: string, reported: string) => `应为 ${expected}，通知为 ${reported}`,
    (expected, reported) => `expected ${expected}, reported ${reported}`,
  ],
  asked: [
    (amount: string, to: string) => `发起退款 ${amount}（${to}）`,
    (amount, to) => `requested a refund of ${amount} (${to})`,
  ],
  withdrawn: ['撤回退款', 'withdrew the refund'],
});

export type Payment = Data<'GET /api/admin/payments/{id}'>;
type Callback = Payment['callbacks'][number];

/** Both amounts, where a callback reports another one than that of the payment. */
export const mismatchOf = ({ amount }: Payment, { reported_amount }: Callback): string | undefined =>
  reported_amount === null ? undefined : t.mismatch(showAmount(amount), showAmount(reported_amount));

export function storyOf(payment: Payment, mayReplay: boolean): Point[] {
  const points = [
    created(payment),
    ...payment.callbacks.map((one) => called(payment, one, mayReplay)),
    ...asked(payment),
    ...closed(payment),
    ...arrived(payment),
    ...payment.handlings.map(handled),
    ...payment.refunds.flatMap(refunded),
  ];
  // Points of one instant stay in this order; those without a time come last.
  const timeOf = ({ at }: Point): number => (at === null ? Number.MAX_SAFE_INTEGER : Date.parse(at));
  return points.sort((one, other) => timeOf(one) - timeOf(other));
}

const created = ({ created_at }: Payment): Point => ({
  key: 'created',
  at: created_at,
  tone: 'blue',
  title: t.created,
});

/** Verdicts of settled callbacks whose money did not pay the order. */
const conflicts = new Set(['paid_needs_attention', 'paid_twice']);

function toneOf({ state, verdict }: Callback): Tone {
  if (state === 'refused') return 'red';
  return state === 'settled' && !conflicts.has(verdict) ? 'green' : 'gold';
}

function called(payment: Payment, one: Callback, mayReplay: boolean): Point {
  const mismatch = mismatchOf(payment, one);
  return {
    key: `callback-${one.id}`,
    at: one.created_at,
    tone: toneOf(one),
    title: (
      <>
        <strong>{one.source === 'query' ? t.answer : t.callback}</strong>
        {one.times > 1 && t.times(one.times)} {one.source === 'callback' && `${t.from} ${one.ip} `}·{' '}
        {verdictOf(one.verdict)}
        {mismatch && ` · ${mismatch}`}
      </>
    ),
    children: (
      <>
        {one.last_at && (
          <div className="timeline-when">
            {t.last} <Time at={one.last_at} />
          </div>
        )}
        <Json value={one.body} />
        {mayReplay && one.state !== 'settled' && <Replay paymentNo={payment.payment_no} id={one.id} />}
      </>
    ),
  };
}

/** The pending queries to its payment company. */
function asked({ follow_up }: Payment): Point[] {
  if (!follow_up) return [];
  const { asked: count, last_asked_at, last_answer, closing_at, due_at } = follow_up;
  const title = (
    <>
      <strong>{t.queried(count)}</strong>
      {count > 0 && ` · ${labelled(t.said, last_answer ?? '–')}`}
      {closing_at && ` · ${t.closing}`}
    </>
  );
  const children = (
    <div className="timeline-when">
      {t.next} <Time at={due_at} />
    </div>
  );
  return count === 0 ? [] : [{ key: 'asked', at: last_asked_at, tone: 'blue', title, children }];
}

function closed({ status, closed_at }: Payment): Point[] {
  const isOver = status === 'cancelled' || status === 'failed';
  if (!isOver && closed_at === null) return [];
  const tone = status === 'failed' ? 'red' : 'grey';
  return [{ key: 'closed', at: closed_at, tone, title: status === 'failed' ? t.failed : t.cancelled }];
}

// The order says whether the money paid it.
function arrived(payment: Payment): Point[] {
  const { status, payment_no, pay_time, order } = payment;
  if (status !== 'paid') return [];
  const at = settledAt(payment) ?? pay_time;
  if (order?.status !== 'paid') return [{ key: 'arrived', at, tone: 'gold', title: t.unpaid }];
  if (order.payment_no !== payment_no) return [{ key: 'arrived', at, tone: 'gold', title: t.otherPaid }];
  return [{ key: 'arrived', at, tone: 'green', title: t.settled }];
}

/** When the callback it was paid by was settled, as long as that is stored. */
const settledAt = ({ callbacks, third_party_no }: Payment): string | null | undefined =>
  callbacks.find(
    (one) => one.third_party_no === third_party_no && /^paid(_needs_attention)?$/.test(one.verdict),
  )?.settled_at;

const handled = ({ id, username, reason, remark, created_at }: Payment['handlings'][number]): Point => ({
  key: `handled-${id}`,
  at: created_at,
  tone: 'blue',
  title: (
    <>
      <strong>{username}</strong> {t.handled(meaningOf(reason))}
    </>
  ),
  children: remark,
});

type Refund = Payment['refunds'][number];

const endings = {
  succeeded: { tone: 'green', words: ['退款完成', 'Refunded'] },
  failed: { tone: 'red', words: ['退款失败', 'Refund failed'] },
  rejected: { tone: 'grey', words: ['驳回退款', 'rejected the refund'] },
} as const satisfies Record<string, { tone: Tone; words: Both }>;

const hasEnded = (status: Refund['status']): status is keyof typeof endings => status in endings;

/** A refund: its request and, once it is over, its end. */
function refunded(refund: Refund): Point[] {
  const { refund_no, amount, destination, status, reason, requester, created_at } = refund;
  const money = showAmount(amount);
  const asked: Point = {
    key: `refund-${refund_no}`,
    at: created_at,
    tone: 'blue',
    title: (
      <>
        <strong>{requester?.username}</strong> {t.asked(money, nameOf(destinations, destination))}
        {!hasEnded(status) && (
          <>
            {' '}
            <Badge states={refundStates} value={status} />
          </>
        )}
      </>
    ),
    children: (
      <>
        {reason} ·{' '}
        <PageLink to={`/trade/refunds/${refund_no}`} className="cell-code">
          {refund_no}
        </PageLink>
      </>
    ),
  };
  return hasEnded(status) ? [asked, ended(refund, status)] : [asked];
}

function ended(refund: Refund, status: keyof typeof endings): Point {
  const { refund_no, amount, approver, approved_by, requested_by, fail_reason, finished_at } = refund;
  const { tone, words } = endings[status];
  const isWithdrawn = status === 'rejected' && approved_by === requested_by;
  return {
    key: `refund-end-${refund_no}`,
    at: finished_at,
    tone,
    title: (
      <>
        {status === 'rejected' && <strong>{approver?.username}</strong>}{' '}
        {isWithdrawn ? t.withdrawn : read(words)} · {showAmount(amount)}
      </>
    ),
    children: fail_reason && meaningOf(fail_reason),
  };
}
