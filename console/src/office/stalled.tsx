// Says which jobs wait, though none of their queue runs.
import { Alert } from 'antd';
import { read, texts } from '../contract/texts.ts';
import { nameOf } from '../parts/show/states.tsx';
import { queues } from './queue-names.ts';

const t = texts({
  stalled: [
    (names: string) => `这些任务等待超过一分钟，且没有在处理：${names}`,
    (names) => `Jobs have waited for more than a minute, and none runs: ${names}`,
  ],
  advice: [
    '任务不会丢失，会在工作进程（worker）运行后继续。请检查它是否在运行。',
    'Nothing is lost; they continue once a worker runs. Check that one does.',
  ],
});

interface Queue {
  name: string;
  waiting: number;
  active: number;
  oldest_seconds: number;
}

const isLateSeconds = 60;

export function Stalled({ of: all }: { of: readonly Queue[] }) {
  const names = all
    .filter((one) => one.waiting > 0 && one.active === 0 && one.oldest_seconds > isLateSeconds)
    .map(({ name }) => nameOf(queues, name));
  if (names.length === 0) return null;
  return (
    <Alert
      type="warning"
      showIcon
      role="alert"
      title={t.stalled(names.join(read(['、', ', '])))}
      description={t.advice}
    />
  );
}
