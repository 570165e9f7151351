// Unread notifications, as they come.
import { BellOutlined } from '@ant-design/icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { App, Badge, Button, Empty, Flex } from 'antd';
import { lazy, Suspense, useState } from 'react';
import { Link } from 'react-router';
import { call } from '../contract/api.ts';
import { useOutage } from '../contract/outage.ts';
import { texts } from '../contract/texts.ts';
import { Time } from '../parts/show/cells.tsx';
import { keepFocus } from '../parts/show/focus.ts';
import { Linked } from '../parts/show/linked.tsx';
import { failureOf, Problem } from '../parts/show/problem.tsx';

const Side = lazy(() => import('./side.tsx'));

const t = texts({
  title: ['通知', 'Notifications'],
  bell: [(count: number) => `通知，${count} 条未读`, (count) => `Notifications, ${count} unread`],
  all: ['查看全部', 'See all'],
  read: ['全部已读', 'Mark all read'],
  none: ['没有通知', 'No notifications'],
});

const latest = 10;

export default function Bell() {
  const [isOpen, setOpen] = useState(false);
  const client = useQueryClient();
  const { message } = App.useApp();
  const isAway = useOutage() !== undefined;
  const { data, error, refetch } = useQuery({
    queryKey: ['notifications', 'recent'],
    queryFn: ({ signal }) =>
      call('GET /api/admin/notifications/recent', { query: { limit: latest }, signal }),
    // On every page, and so what asks whether the service is back.
    refetchInterval: isAway ? 5000 : 60_000,
  });
  const again = () => client.invalidateQueries({ queryKey: ['notifications'] });
  const onError = (failure: Error) => void message.error(failureOf(failure).message);
  const readAll = useMutation({
    mutationFn: () => call('POST /api/admin/notifications/read-all'),
    onSuccess: async () => {
      await again();
      // Its button is gone.
      keepFocus();
    },
    onError,
  });
  const readOne = useMutation({
    mutationFn: (id: number) => call('POST /api/admin/notifications/{id}/read', { path: { id } }),
    onSuccess: again,
    onError,
  });
  const unread = data?.unread_count ?? 0;
  return (
    <>
      <Badge count={unread} size="small" className="bell">
        <Button
          type="text"
          icon={<BellOutlined />}
          aria-label={t.bell(unread)}
          onClick={() => setOpen(true)}
        />
      </Badge>
      {isOpen && (
        <Suspense fallback={null}>
          <Side
            title={t.title}
            place="right"
            onClose={() => setOpen(false)}
            extra={
              unread > 0 && (
                <Button size="small" loading={readAll.isPending} onClick={() => readAll.mutate()}>
                  {t.read}
                </Button>
              )
            }
            footer={
              <Flex justify="center">
                <Link to="/office/notifications" onClick={() => setOpen(false)}>
                  {t.all}
                </Link>
              </Flex>
            }
          >
            {error && !data && <Problem error={error} onRetry={() => void refetch()} />}
            {data?.list.length === 0 && <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t.none} />}
            <ul className="notices">
              {data?.list.map((one) => (
                <li key={one.id} className={one.is_read ? 'notice' : 'notice fresh'}>
                  <button type="button" onClick={() => one.is_read || readOne.mutate(one.id)}>
                    <strong>{one.title}</strong>
                    <Time at={one.created_at} />
                  </button>
                  <span className="notice-text">
                    <Linked
                      text={one.content}
                      onOpen={() => {
                        setOpen(false);
                        if (!one.is_read) readOne.mutate(one.id);
                      }}
                    />
                  </span>
                </li>
              ))}
            </ul>
          </Side>
        </Suspense>
      )}
    </>
  );
}
