// Machine, process, queues, database and Redis, live.
import { Skeleton } from 'antd';
import { useState } from 'react';
import { type Data } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { showCount } from '../parts/money.ts';
import { Plot } from '../parts/plot.tsx';
import { Badge, nameOf, states } from '../parts/states.tsx';
import { useStream } from '../parts/stream.ts';
import { showBytes, showClock, showDuration } from '../parts/time.ts';
import { useTitle } from '../parts/use-title.ts';
import { queues } from './queue-names.ts';

const t = texts({
  'zh-CN': {
    ...{
      title: '系统监控',
      cpu: '处理器 %',
      memory: '内存 %',
      delay: '事件循环延迟（毫秒）',
      jobs: '队列中的任务',
      latency: '数据库与 Redis 响应（毫秒）',
      age: '最久等待（秒）',
      waiting: '等待',
      active: '执行中',
      failed: '失败',
    },
    ...{
      database: '数据库',
      redis: 'Redis',
      heap: '堆内存',
      disk: '磁盘',
      uptime: '运行时间',
      sockets: '实时连接',
      queues: '队列',
      queue: '队列',
      delayed: '延后',
      host: '主机',
    },
  },
  'en-US': {
    ...{
      title: 'Monitor',
      cpu: 'CPU %',
      memory: 'Memory %',
      delay: 'Event-loop delay (ms)',
      jobs: 'Jobs in the queues',
      latency: 'Answers of database and Redis (ms)',
      age: 'Longest wait (s)',
      waiting: 'Waiting',
      active: 'Active',
      failed: 'Failed',
    },
    ...{
      database: 'Database',
      redis: 'Redis',
      heap: 'Heap',
      disk: 'Disk',
      uptime: 'Up for',
      sockets: 'Live connections',
      queues: 'Queues',
      queue: 'Queue',
      delayed: 'Delayed',
      host: 'Host',
    },
  },
});

type Info = Data<'GET /api/admin/monitor/system-info'>;

interface Sample {
  at: string;
  info: Info;
}

const kept = 150;
const health = states({ up: ['正常', 'Up', 'green'], down: ['不可用', 'Down', 'red'] });

export default function Monitor() {
  const [samples, setSamples] = useState<Sample[]>([]);
  useTitle(t.title);
  useStream<Info>('GET /api/admin/monitor/system-info/stream', 'system_info', { interval: '2' }, (info) =>
    setSamples((before) => [...before.slice(1 - kept), { at: showClock(Date.now()), info }]),
  );
  const last = samples.at(-1)?.info;
  if (!last) return <Skeleton active className="screen" data-screen="monitor" />;
  const labels = samples.map(({ at }) => at);
  const values = (pick: (info: Info) => number) => samples.map(({ info }) => pick(info));
  const jobs = (pick: (queue: Info['queues'][number]) => number) =>
    values(({ queues }) => queues.reduce((sum, queue) => sum + pick(queue), 0));
  return (
    <section className="screen" data-screen="monitor">
      <h1>{t.title}</h1>
      <div className="cards six">
        <Health name={t.database} part={last.database} />
        <Health name={t.redis} part={last.redis} />
        <Figure label={t.heap} value={showBytes(last.runtime.heap_used)} />
        <Figure label={t.disk} value={`${last.disk.percent.toFixed(0)} %`} />
        <Figure label={t.sockets} value={showCount(last.websocket.connections)} />
        <Figure label={t.uptime} value={showDuration(last.runtime.uptime)} />
      </div>
      <div className="plots">
        <Plot
          title={t.cpu}
          labels={labels}
          series={[{ label: t.cpu, values: values(({ cpu }) => cpu.percent) }]}
          max={100}
        />
        <Plot
          title={t.memory}
          labels={labels}
          series={[{ label: t.memory, values: values(({ memory }) => memory.percent) }]}
          max={100}
        />
        <Plot
          title={t.delay}
          labels={labels}
          series={[{ label: t.delay, values: values(({ runtime }) => runtime.event_loop_lag_ms) }]}
        />
        <Plot
          title={t.jobs}
          labels={labels}
          series={[
            { label: t.waiting, values: jobs(({ waiting }) => waiting) },
            { label: t.active, values: jobs(({ active }) => active) },
            { label: t.failed, tone: 'red', values: jobs(({ failed }) => failed) },
          ]}
        />
        <Plot
          title={t.age}
          labels={labels}
          series={[
            {
              label: t.age,
              values: values(({ queues: all }) => Math.max(0, ...all.map((one) => one.oldest_seconds))),
            },
          ]}
        />
        <Plot
          title={t.latency}
          labels={labels}
          series={[
            { label: t.database, values: values(({ database }) => database.latency_ms) },
            { label: t.redis, values: values(({ redis }) => redis.latency_ms) },
          ]}
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
