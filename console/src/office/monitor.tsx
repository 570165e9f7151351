// Machine, process, queues, database and Redis, live.
import { useQuery } from '@tanstack/react-query';
import { Skeleton } from 'antd';
import { useState } from 'react';
import { call, type Data } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { showCount } from '../parts/show/money.ts';
import { Plot } from '../parts/show/plot.tsx';
import { Problem } from '../parts/show/problem.tsx';
import { Badge, nameOf, states } from '../parts/show/states.tsx';
import { useStream } from '../parts/show/stream.ts';
import { showBytes, showClock, showDuration } from '../parts/show/time.ts';
import { useTitle } from '../parts/show/use-title.ts';
import { queues } from './queue-names.ts';
import { Stalled } from './stalled.tsx';

const t = texts({
  title: ['系统监控', 'System monitor'],
  cpu: ['处理器 %', 'CPU %'],
  memory: ['内存 %', 'Memory %'],
  delay: ['事件循环延迟（毫秒）', 'Event-loop delay (ms)'],
  jobs: ['队列中的任务', 'Jobs in queues'],
  latency: ['数据库与 Redis 响应（毫秒）', 'Response of database and Redis (ms)'],
  age: ['最久等待（秒）', 'Longest wait (s)'],
  waiting: ['等待', 'Waiting'],
  active: ['执行中', 'Active'],
  failed: ['失败', 'Failed'],
  database: ['数据库', 'Database'],
  redis: ['Redis', 'Redis'],
  heap: ['堆内存', 'Heap'],
  disk: ['磁盘', 'Disk'],
  uptime: ['运行时间', 'Uptime'],
  sockets: ['实时连接', 'Live connections'],
  queues: ['队列', 'Queues'],
  queue: ['队列', 'Queue'],
  delayed: ['延后', 'Delayed'],
  host: ['主机', 'Host'],
});

type Info = Data<'GET /api/admin/monitor/system-info'>;

type Sample = Data<'GET /api/admin/monitor/system-info/history'>[number];

const maxSamples = 900;
const health = states({ up: ['正常', 'Up', 'green'], down: ['不可用', 'Down', 'red'] });

export default function Monitor() {
  const [streamed, setStreamed] = useState<Info>();
  const [fresh, setFresh] = useState<Sample[]>([]);
  useTitle(t.title);
  // What came before the visit, read once: what came since is in the stream.
  const { data: past = [] } = useQuery({
    queryKey: ['monitor', 'history'],
    queryFn: ({ signal }) => call('GET /api/admin/monitor/system-info/history', { signal }),
    staleTime: 'static',
    gcTime: 0,
  });
  // The stream may wait, or be refused.
  const {
    data: first,
    error,
    refetch,
  } = useQuery({
    queryKey: ['monitor', 'now'],
    queryFn: ({ signal }) => call('GET /api/admin/monitor/system-info', { signal }),
    staleTime: Infinity,
    gcTime: 0,
  });
  useStream<Info>('GET /api/admin/monitor/system-info/stream', 'system_info', { interval: '2' }, (info) => {
    setStreamed(info);
    setFresh((before) => [...before.slice(1 - maxSamples), sampleOf(info)]);
  });
  const last = streamed ?? first;
  if (!last && error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!last) return <Skeleton active className="screen" data-screen="monitor" />;
  const samples = [...past, ...fresh].slice(-maxSamples);
  const labels = samples.map(({ at }) => showClock(Date.parse(at)));
  const series = (label: string, name: Exclude<keyof Sample, 'at'>) => ({
    label,
    values: samples.map((sample) => sample[name]),
  });
  const line = (label: string, name: Exclude<keyof Sample, 'at'>) => ({
    labels,
    series: [series(label, name)],
  });
  return (
    <section className="screen" data-screen="monitor">
      <h1>{t.title}</h1>
      <Stalled of={last.queues} />
      <div className="cards six">
        <Health name={t.database} part={last.database} />
        <Health name={t.redis} part={last.redis} />
        <Figure label={t.heap} value={showBytes(last.runtime.heap_used)} />
        <Figure label={t.disk} value={`${last.disk.percent.toFixed(0)} %`} />
        <Figure label={t.sockets} value={showCount(last.websocket.connections)} />
        <Figure label={t.uptime} value={showDuration(last.runtime.uptime)} />
      </div>
      <div className="plots">
        <Plot title={t.cpu} max={100} draw={() => line(t.cpu, 'cpu')} />
        <Plot title={t.memory} max={100} draw={() => line(t.memory, 'memory')} />
        <Plot title={t.delay} draw={() => line(t.delay, 'event_loop_lag_ms')} />
        <Plot
          title={t.jobs}
          draw={() => ({
            labels,
            series: [
              series(t.waiting, 'waiting'),
              series(t.active, 'active'),
              { ...series(t.failed, 'failed'), tone: 'red' },
            ],
          })}
        />
        <Plot title={t.age} draw={() => line(t.age, 'oldest_seconds')} />
        <Plot
          title={t.latency}
          draw={() => ({
            labels,
            series: [series(t.database, 'database_ms'), series(t.redis, 'redis_ms')],
          })}
        />
      </div>
      <section className="panel">
        <h2>{t.queues}</h2>
        <table className="changes">
          <thead>
            <tr>
              {[t.queue, t.waiting, t.active, t.delayed, t.failed, t.age].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {last.queues.map(({ name, waiting, active, delayed, failed, oldest_seconds }) => (
              <tr key={name}>
                <th scope="row">{nameOf(queues, name)}</th>
                <td>{showCount(waiting)}</td>
                <td>{showCount(active)}</td>
                <td>{showCount(delayed)}</td>
                <td>{showCount(failed)}</td>
                <td>{showCount(oldest_seconds)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <span className="soft">
          {t.host}: {last.system.hostname} · {last.system.os} {last.system.arch} · {last.runtime.name}{' '}
          {last.runtime.version}
        </span>
      </section>
    </section>
  );
}

function sampleOf({ cpu, memory, runtime, queues, database, redis }: Info): Sample {
  const jobs = (state: 'waiting' | 'active' | 'failed') =>
    queues.reduce((sum, queue) => sum + queue[state], 0);
  return {
    at: new Date().toISOString(),
    cpu: cpu.percent,
    memory: memory.percent,
    event_loop_lag_ms: runtime.event_loop_lag_ms,
    waiting: jobs('waiting'),
    active: jobs('active'),
    failed: jobs('failed'),
    oldest_seconds: Math.max(0, ...queues.map(({ oldest_seconds }) => oldest_seconds)),
    database_ms: database.latency_ms,
    redis_ms: redis.latency_ms,
  };
}

function Health({ name, part }: { name: string; part: Info['database'] }) {
  return (
    <div className="panel card">
      <span className="card-label">{name}</span>
      <span>
        <Badge states={health} value={part.status} />{' '}
        <span className="cell-figure">{part.latency_ms.toFixed(1)} ms</span>
      </span>
    </div>
  );
}

function Figure({ label, value }: { label: string; value: string }) {
  return (
    <div className="panel card">
      <span className="card-label">{label}</span>
      <span className="figure">{value}</span>
    </div>
  );
}
