// Background work: queues, and jobs that failed for good.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Flex } from 'antd';
import { useEffect } from 'react';
import { call } from '../contract/api.ts';
import { plural, texts } from '../contract/texts.ts';
import { badge, code, count, text, time, trace } from '../parts/show/cells.tsx';
import { choice, words } from '../parts/form/fields.tsx';
import { recoveryMs } from '../parts/list/recovery.ts';
import { showCount } from '../parts/show/money.ts';
import { Problem } from '../parts/show/problem.tsx';
import { useMay } from '../parts/show/profile.ts';
import { resource } from '../parts/resource.ts';
import { nameOf, states } from '../parts/show/states.tsx';
import { showDuration } from '../parts/show/time.ts';
import { Json } from '../parts/show/timeline.tsx';
import { queues } from './queue-names.ts';
import { Stalled } from './stalled.tsx';

const t = texts({
  waiting: ['等待', 'waiting'],
  active: ['执行中', 'active'],
  delayed: ['延后', 'delayed'],
  failed: ['失败', 'failed'],
  oldest: ['最久', 'oldest'],
  jobs: [(_: number) => '个任务', (count) => plural(count, 'job', 'jobs')],
});

const failedStates = states({
  failed: ['失败', 'Failed', 'red'],
  retried: ['已重试', 'Retried', 'gold'],
  done: ['已完成', 'Done', 'green'],
});

const everyMs = 3000;

function Standing() {
  const may = useMay();
  const { data, error, refetch } = useQuery({
    queryKey: ['queues', 'list'],
    queryFn: ({ signal }) => call('GET /api/admin/queues', { signal }),
    refetchInterval: (query) => recoveryMs(query) || everyMs,
    enabled: may('GET /api/admin/queues'),
  });
  const client = useQueryClient();
  const failed = data?.list.reduce((sum, queue) => sum + queue.failed, 0);
  // The list below is of the same jobs. One that was refused asks again when its limit has passed.
  useEffect(() => {
    const queryKey = ['failed-jobs', 'list'];
    void client.invalidateQueries({ queryKey, predicate: ({ state }) => state.status === 'success' });
  }, [client, failed]);
  return (
    <>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      <Stalled of={data?.list ?? []} />
      <div className="cards queues">
        {data?.list.map(({ name, waiting, active, delayed, failed, oldest_seconds }) => (
          <div key={name} className="panel card">
            <span className="card-label">{nameOf(queues, name)}</span>
            <span>
              <span className="figure">{showCount(waiting + active + delayed)}</span>{' '}
              <span className="soft">{t.jobs(waiting + active + delayed)}</span>
            </span>
            <Flex wrap gap="0 12px" className="soft standing">
              <span>{`${t.waiting} ${waiting}`}</span>
              <span>{`${t.active} ${active}`}</span>
              {delayed > 0 && <span>{`${t.delayed} ${delayed}`}</span>}
              <span>{`${t.failed} ${failed}`}</span>
              {oldest_seconds > 0 && <span>{`${t.oldest} ${showDuration(oldest_seconds)}`}</span>}
            </Flex>
          </div>
        ))}
      </div>
    </>
  );
}

export default resource('GET /api/admin/failed-jobs', {
  name: 'failed-jobs',
  title: ['任务队列', 'Job queues'],
  empty: [
    '没有失败的任务。多次重试仍失败的任务会出现在这里，可以再次执行',
    'No failed jobs. A job appears here once all its attempts have failed, and can be retried',
  ],
  label: 'job',
  labels: {
    queue: ['队列', 'Queue'],
    job: ['任务', 'Job'],
    job_key: ['任务键', 'Key'],
    error: ['原因', 'Reason'],
    attempts: ['尝试次数', 'Attempts'],
    failures: ['失败次数', 'Failures'],
    state: ['状态', 'State'],
    failed_at: ['失败时间', 'Failed at'],
    retried_at: ['重试时间', 'Retried at'],
  },
  above: Standing,
  isMoving: ({ state }) => state === 'retried',
  filters: {
    queue: choice(queues),
    job: words(),
    error: words(),
    state: choice(failedStates),
    trace_id: words(),
  },
  dateRange: true,
  sortable: ['failed_at', 'attempts', 'failures'],
  columns: {
    job: code(200),
    queue: badge(queues),
    state: badge(failedStates, 96),
    error: { ...text(200), grows: true },
    attempts: count(100),
    failures: count(100),
    failed_at: time(),
    trace_id: trace(),
  },
  folded: ['attempts', 'trace_id'],
  more: { job_key: code(), retried_at: time() },
  show: 'GET /api/admin/failed-jobs/{id}',
  actions: [
    {
      route: 'POST /api/admin/failed-jobs/{id}/retry',
      text: ['重试', 'Try again'],
      many: true,
      when: ({ state }) => state === 'failed',
    },
  ],
  remove: 'DELETE /api/admin/failed-jobs/{id}',
  removeMany: 'DELETE /api/admin/failed-jobs/batch',
  below: ({ row }) => <Json value={row.payload} />,
});
