// Explains a failure and what can be done about it.
import { Alert, Button, Flex } from 'antd';
import { useEffect, useState } from 'react';
import { useLocation } from 'react-router';
import { Failure } from '../../contract/api.ts';
import { useOutage } from '../../contract/outage.ts';
import { forgetOne } from '../../contract/recent.ts';
import { read, texts, type Both } from '../../contract/texts.ts';
import { Copyable } from './copyable.tsx';
import { LinkButton } from './link-button.tsx';
import { useListAddress } from './location.ts';
import { showClock } from './time.ts';

const t = texts({
  retry: ['重试', 'Try again'],
  wait: [(seconds: number) => `${seconds} 秒后重试`, (seconds) => `Try again in ${seconds} s`],
  unexpected: ['出现意外错误', 'Something unexpected went wrong'],
  trace: ['追踪号', 'Trace'],
  again: [
    '未能确认是否已提交。服务已恢复，请再提交一次',
    'It is not certain that this was sent. The service answers again: try once more',
  ],
  denied: ['没有权限查看此页面，请联系管理员', 'You have no permission for this page; ask an administrator'],
  home: ['返回首页', 'Go to my first page'],
  back: [
    (list: string) => `返回${list}`,
    (list) => `Back to ${list.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase())}`,
  ],
  since: [
    (clock: string) => `下面是 ${clock} 时的内容，恢复后自动刷新`,
    (clock) => `Below is what it was at ${clock}; it is refreshed by itself`,
  ],
});

export const failureOf = (error: unknown): Failure =>
  error instanceof Failure ? error : new Failure(t.unexpected, -1);

/** What the service would answer to a call that needs a permission. */
export const noPermission = new Failure('', 403, { error_code: 'no_permission' });

/** A failed query in place of its result. After a limit it waits as long as the service says. */
export function Problem({
  error,
  list,
  labelOf,
  onRetry,
  shownSince,
}: {
  error: unknown;
  /** The title of the list of a record that may not exist. */
  list?: Both;
  /** Names what was refused for its value. */
  labelOf?: (name: string) => Both;
  onRetry?: () => void;
  /** When what is still shown was fetched, in milliseconds since 1970. */
  shownSince?: number;
}) {
  const failure = failureOf(error);
  const left = useCountdown(failure.details.retryAfter ?? 0, failure);
  const isDenied = failure.status === 403 && failure.code === 'no_permission';
  // Also what is no number of a record.
  const isGone = [400, 404, 422].includes(failure.status) && list;
  const retry = onRetry && !isDenied && (
    <Button size="small" disabled={left > 0} onClick={onRetry}>
      {left > 0 ? t.wait(left) : t.retry}
    </Button>
  );
  return (
    <Alert
      type={failure.isPassing ? 'warning' : 'error'}
      showIcon
      role="alert"
      title={isDenied ? t.denied : failure.message}
      description={
        (shownSince || failure.details.trace_id) && (
          <>
            {labelOf &&
              Object.entries(failure.details.errors ?? {}).map(([name, messages]) => (
                <div key={name}>
                  {read(labelOf(name))}: {messages.join(' ')}
                </div>
              ))}
            {shownSince && failure.isPassing && t.since(showClock(shownSince))}
            <Trace failure={failure} />
          </>
        )
      }
      action={isDenied ? <LinkButton to="/">{t.home}</LinkButton> : isGone ? <ToList list={list} /> : retry}
    />
  );
}

/** The list of the record whose page or drawer is open. */
function ToList({ list }: { list: Both }) {
  const { pathname } = useLocation();
  useEffect(() => forgetOne(pathname), [pathname]);
  return (
    <LinkButton size="small" to={useListAddress()}>
      {t.back(read(list))}
    </LinkButton>
  );
}

export function Trace({ failure }: { failure: Failure }) {
  const id = failure.details.trace_id;
  if (!id) return null;
  return (
    <Flex gap={6} className="trace">
      <span>{t.trace}</span>
      <Copyable value={id} />
    </Flex>
  );
}

/** Why a form could not be sent; once a service that was away answers again, that it can be. */
export function SendProblem({
  failure,
  elsewhere = [],
}: {
  failure: Failure;
  /** Errors of what the form has no fields for. */
  elsewhere?: [string, string[]][];
}) {
  const outage = useOutage();
  const isBack = !outage && failure.isAway;
  return (
    <Alert
      type={isBack ? 'info' : 'error'}
      showIcon
      role="alert"
      className="form-failure"
      title={isBack ? t.again : failure.message}
      description={
        !isBack &&
        (elsewhere.length > 0 || failure.details.trace_id) && (
          <>
            {elsewhere.map(([name, messages]) => (
              <div key={name}>{messages.join(' ')}</div>
            ))}
            <Trace failure={failure} />
          </>
        )
      }
    />
  );
}

/** Seconds left since that failure. */
export function useCountdown(seconds: number, of: Failure | undefined): number {
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    setLeft(seconds);
    if (seconds <= 0) return undefined;
    // Timers of a hidden tab come once a minute, those of a sleeping computer not at all.
    const until = Date.now() + seconds * 1000;
    const leftNow = (before: number) => Math.min(before - 1, Math.ceil((until - Date.now()) / 1000));
    const timer = setInterval(() => setLeft((before) => Math.max(0, leftNow(before))), 1000);
    return () => clearInterval(timer);
  }, [seconds, of]);
  return left;
}
