// One administrator: roles, sessions, sign-ins, what they did and who changed them.
import { EditOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Skeleton } from 'antd';
import type { ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { call } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { ActionButtons } from '../parts/list/actions.tsx';
import type { Resource } from '../parts/resource.ts';
import { Time } from '../parts/show/cells.tsx';
import { Facts } from '../parts/show/facts.tsx';
import { History } from '../parts/show/history.tsx';
import { LinkButton } from '../parts/show/link-button.tsx';
import { PageLink } from '../parts/show/page-link.tsx';
import { RowPage } from '../parts/show/page.tsx';
import { Problem } from '../parts/show/problem.tsx';
import { useMay } from '../parts/show/profile.ts';
import { RecordsPanel } from '../parts/show/records-panel.tsx';
import { Badge, enabled, Tag } from '../parts/show/states.tsx';

const t = texts({
  'zh-CN': {
    edit: '修改',
    roles: '角色',
    noRoles: '没有角色，登录后什么也看不到',
    sessions: '当前会话',
    noSessions: '没有登录',
    signIns: '最近登录',
    noSignIns: '还没有登录过',
    operations: '最近操作',
    noOperations: '还没有操作',
    failed: '失败',
  },
  'en-US': {
    edit: 'Edit',
    roles: 'Roles',
    noRoles: 'No role: this administrator sees nothing',
    sessions: 'Sessions',
    noSessions: 'Not signed in',
    signIns: 'Latest sign-ins',
    noSignIns: 'Has never signed in',
    operations: 'Latest operations',
    noOperations: 'No operations yet',
    failed: 'Failed',
  },
});

const shown = 8;

export default function AdminPage({ id, resource }: { id: string; resource: Resource }) {
  const may = useMay();
  const navigate = useNavigate();
  const {
    data: admin,
    error,
    refetch,
  } = useQuery({
    queryKey: ['admins', 'one', id],
    queryFn: ({ signal }) => call('GET /api/admin/admins/{id}', { path: { id }, signal }),
    meta: { scopes: ['identity'] },
  });
  return (
    <RowPage
      list="/access/admins"
      title={admin?.username ?? id}
      what={['管理员', 'Administrator']}
      state={admin && <Badge states={enabled} value={admin.status} />}
      actions={
        admin && (
          <>
            {may('PUT /api/admin/admins/{id}') && (
              <LinkButton to={`/access/admins/${admin.id}/edit`} icon={<EditOutlined />}>
                {t.edit}
              </LinkButton>
            )}
            <ActionButtons
              resource={resource}
              row={admin}
              onDone={({ route }) =>
                route === 'DELETE /api/admin/admins/{id}' && void navigate('/access/admins')
              }
            />
          </>
        )
      }
    >
      {error && <Problem error={error} list={resource.spec.title} onRetry={() => void refetch()} />}
      {!admin && !error && <Skeleton active />}
      {admin && (
        <div className="two">
          <div className="stack">
            <section className="panel">
              <Facts resource={resource} row={admin} />
            </section>
            <section className="panel">
              <h2>{t.roles}</h2>
              {admin.roles.length === 0 && <span className="soft">{t.noRoles}</span>}
              <ul className="plain-list">
                {admin.roles.map((role) => (
                  <li key={role.id}>
                    <PageLink to={`/access/roles/${role.id}`}>{role.name}</PageLink>
                  </li>
                ))}
              </ul>
            </section>
            {may('GET /api/admin/operation-logs') && <Operations adminId={admin.id} />}
          </div>
          <div className="stack">
            {may('GET /api/admin/online-admins') && <Sessions username={admin.username} />}
            {may('GET /api/admin/login-logs') && <SignIns adminId={admin.id} />}
            <History resource={resource} id={String(admin.id)} createdAt={admin.created_at} />
          </div>
        </div>
      )}
    </RowPage>
  );
}

interface Entry {
  key: number;
  what: ReactNode;
  at: string;
}

const Entries = ({ rows = [] }: { rows: Entry[] | undefined }) => (
  <ul className="plain-list">
    {rows.map(({ key, what, at }) => (
      <li key={key}>
        <span>{what}</span>
        <span className="soft">
          <Time at={at} />
        </span>
      </li>
    ))}
  </ul>
);

function Operations({ adminId }: { adminId: number }) {
  const query = useQuery({
    queryKey: ['operation-logs', 'list', { admin_id: adminId }],
    queryFn: ({ signal }) =>
      call('GET /api/admin/operation-logs', { query: { admin_id: adminId, page_size: shown }, signal }),
    meta: { scopes: ['operation_logs'] },
  });
  return (
    <RecordsPanel
      title={t.operations}
      none={t.noOperations}
      query={query}
      total={query.data?.total}
      all={`/logs/operation-logs?admin_id=${adminId}`}
    >
      <Entries
        rows={query.data?.list.map(({ id, title, status, created_at }) => ({
          key: id,
          at: created_at,
          what: (
            <>
              <PageLink to={`/logs/operation-logs/${id}?admin_id=${adminId}`}>{title}</PageLink>{' '}
              {status >= 400 && <Tag tone="red">{status}</Tag>}
            </>
          ),
        }))}
      />
    </RecordsPanel>
  );
}

function SignIns({ adminId }: { adminId: number }) {
  const query = useQuery({
    queryKey: ['login-logs', 'list', { admin_id: adminId }],
    queryFn: ({ signal }) =>
      call('GET /api/admin/login-logs', { query: { admin_id: adminId, page_size: shown }, signal }),
    meta: { scopes: ['login_logs'] },
  });
  return (
    <RecordsPanel
      title={t.signIns}
      none={t.noSignIns}
      query={query}
      total={query.data?.total}
      all={`/logs/login-logs?admin_id=${adminId}`}
    >
      <Entries
        rows={query.data?.list.map(({ id, ip, browser, status, created_at }) => ({
          key: id,
          at: created_at,
          what: (
            <>
              <span className="cell-code">{ip}</span> {browser}{' '}
              {status === 0 && <Tag tone="red">{t.failed}</Tag>}
            </>
          ),
        }))}
      />
    </RecordsPanel>
  );
}

function Sessions({ username }: { username: string }) {
  const query = useQuery({
    queryKey: ['online-admins', 'list', { username }],
    queryFn: ({ signal }) =>
      call('GET /api/admin/online-admins', { query: { username, page_size: 50 }, signal }),
    meta: { scopes: ['identity'] },
  });
  // The filter also finds longer names that contain this one.
  const own = query.data?.list.filter((one) => one.username === username);
  return (
    <RecordsPanel
      title={t.sessions}
      none={t.noSessions}
      query={query}
      total={own?.length}
      all={`/access/online-admins?username=${encodeURIComponent(username)}`}
    >
      <Entries
        rows={own?.map(({ id, ip, browser, os, last_active }) => ({
          key: id,
          at: last_active,
          what: (
            <>
              <span className="cell-code">{ip}</span> {browser} {os}
            </>
          ),
        }))}
      />
    </RecordsPanel>
  );
}
