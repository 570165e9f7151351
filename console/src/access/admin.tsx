// One administrator: roles, sessions, sign-ins, what they did and who changed them.
import type { ReactNode } from 'react';
import { texts } from '../contract/texts.ts';
import { RecordPage, useRecord } from '../parts/list/record-page.tsx';
import type { Resource } from '../parts/resource.ts';
import { Time } from '../parts/show/cells.tsx';
import { Facts } from '../parts/show/facts.tsx';
import { History } from '../parts/show/history.tsx';
import { PageLink } from '../parts/show/page-link.tsx';
import { RecordsPanel } from '../parts/show/records-panel.tsx';
import { Tag } from '../parts/show/states.tsx';

const t = texts({
  roles: ['角色', 'Roles'],
  noRoles: ['没有角色，登录后什么也看不到', 'No role: this administrator sees nothing'],
  sessions: ['当前会话', 'Sessions'],
  noSessions: ['没有登录', 'Not signed in'],
  signIns: ['最近登录', 'Latest sign-ins'],
  noSignIns: ['还没有登录过', 'Has never signed in'],
  operations: ['最近操作', 'Latest operations'],
  noOperations: ['还没有操作', 'No operations yet'],
  failed: ['失败', 'Failed'],
});

const shown = 8;

export default function AdminPage({ id, resource }: { id: string; resource: Resource }) {
  const query = useRecord('GET /api/admin/admins/{id}', id, ['identity']);
  return (
    <RecordPage resource={resource} id={id} what={['管理员', 'Administrator']} query={query}>
      {(admin) => (
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
            <Operations adminId={admin.id} />
          </div>
          <div className="stack">
            <Sessions username={admin.username} />
            <SignIns adminId={admin.id} />
            <History resource={resource} id={String(admin.id)} createdAt={admin.created_at} />
          </div>
        </div>
      )}
    </RecordPage>
  );
}

const Entry = ({ at, children }: { at: string; children: ReactNode }) => (
  <li>
    <span>{children}</span>
    <span className="soft">
      <Time at={at} />
    </span>
  </li>
);

function Operations({ adminId }: { adminId: number }) {
  return (
    <RecordsPanel
      title={t.operations}
      none={t.noOperations}
      room="logs"
      list="GET /api/admin/operation-logs"
      query={{ admin_id: adminId }}
      scopes={['operation_logs']}
      count={shown}
    >
      {(rows) => (
        <ul className="plain-list">
          {rows.map(({ id, title, status, created_at }) => (
            <Entry key={id} at={created_at}>
              <PageLink to={`/logs/operation-logs/${id}?admin_id=${adminId}`}>{title}</PageLink>{' '}
              {status >= 400 && <Tag tone="red">{status}</Tag>}
            </Entry>
          ))}
        </ul>
      )}
    </RecordsPanel>
  );
}

function SignIns({ adminId }: { adminId: number }) {
  return (
    <RecordsPanel
      title={t.signIns}
      none={t.noSignIns}
      room="logs"
      list="GET /api/admin/login-logs"
      query={{ admin_id: adminId }}
      scopes={['login_logs']}
      count={shown}
    >
      {(rows) => (
        <ul className="plain-list">
          {rows.map(({ id, ip, browser, status, created_at }) => (
            <Entry key={id} at={created_at}>
              <span className="cell-code">{ip}</span> {browser}{' '}
              {status === 0 && <Tag tone="red">{t.failed}</Tag>}
            </Entry>
          ))}
        </ul>
      )}
    </RecordsPanel>
  );
}

function Sessions({ username }: { username: string }) {
  return (
    <RecordsPanel
      title={t.sessions}
      none={t.noSessions}
      room="access"
      list="GET /api/admin/online-admins"
      query={{ username }}
      scopes={['identity']}
      count={50}
      // The filter also finds longer names that contain this one.
      only={(one) => one.username === username}
    >
      {(rows) => (
        <ul className="plain-list">
          {rows.map(({ id, ip, browser, os, last_active }) => (
            <Entry key={id} at={last_active}>
              <span className="cell-code">{ip}</span> {browser} {os}
            </Entry>
          ))}
        </ul>
      )}
    </RecordsPanel>
  );
}
