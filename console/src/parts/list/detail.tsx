// One row beside its list: fields, actions, and forms to create and change it.
import { EditOutlined } from '@ant-design/icons';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { App, Drawer, Flex, Skeleton } from 'antd';
import { useRef, useState, type ComponentProps } from 'react';
import { useLocation, useNavigate, useParams } from 'react-router';
import { call, type Route } from '../../contract/api.ts';
import { read, texts } from '../../contract/texts.ts';
import { FormDrawer } from '../form/form-drawer.tsx';
import { Guard } from '../show/guard.tsx';
import { isFirstPage } from '../show/location.ts';
import { LinkButton } from '../show/link-button.tsx';
import { noPermission, Problem } from '../show/problem.tsx';
import { useMay } from '../show/profile.ts';
import { Facts } from '../show/facts.tsx';
import { labelOf, nameOf, type AnyRow, type Resource } from '../resource.ts';
import { useReturnFocus } from '../show/focus.ts';
import { ActionButtons } from './actions.tsx';
import { followMs } from './recovery.ts';

const t = texts({
  edit: ['修改', 'Edit'],
  create: [(what: string) => `新建${what}`, (what) => `New ${what}`],
  created: ['已创建', 'Created'],
});

/** One row, by the id in the URL. */
function useRow({ spec }: Resource, id: string, isWanted = true) {
  const route = spec.show as Route;
  return useQuery({
    queryKey: [spec.name, 'one', id],
    queryFn: async ({ signal }) => (await call(route, { path: { id }, signal })) as AnyRow,
    enabled: isWanted,
    meta: { scopes: spec.stale ?? [] },
    refetchInterval: (query) =>
      followMs(query, query.state.data !== undefined && spec.isMoving?.(query.state.data) === true),
  });
}

function useClose(): () => void {
  const navigate = useNavigate();
  const { search } = useLocation();
  // Back to the list, or to its route when opened by a shared link.
  return () => void (isFirstPage() ? navigate(`..${search}`, { relative: 'path' }) : navigate(-1));
}

/** Whether the form was allowed when it was opened: one that is open stays, with what is typed. */
function useWasAllowed(form: { route: Route } | undefined): boolean {
  const may = useMay();
  const [wasAllowed] = useState(() => form !== undefined && may(form.route));
  return wasAllowed;
}

export function RowDrawer({ resource }: { resource: Resource }) {
  const { id = '' } = useParams();
  const { search } = useLocation();
  const { data, error, refetch } = useRow(resource, id);
  const { update, title, lead: Lead, below: Below } = resource.spec;
  useReturnFocus();
  const may = useMay();
  const close = useClose();
  return (
    <Drawer open size={560} title={data ? nameOf(resource, data) : read(title)} onClose={close}>
      {error && <Problem error={error} list={title} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton active />}
      {data && (
        <>
          <Flex gap={8} wrap className="drawer-actions">
            {update && may(update.route) && (
              <LinkButton to={`edit${search}`} icon={<EditOutlined />}>
                {t.edit}
              </LinkButton>
            )}
            <ActionButtons
              resource={resource}
              row={data}
              onDone={(action) => {
                if (action.route === resource.spec.remove) close();
              }}
            />
          </Flex>
          {Lead && (
            <Guard of={data}>
              <Lead row={data} />
            </Guard>
          )}
          <Facts resource={resource} row={data} />
          {Below && (
            <Guard of={data}>
              <Below row={data} />
            </Guard>
          )}
        </>
      )}
    </Drawer>
  );
}

export function CreateDrawer({ resource }: { resource: Resource }) {
  const { create, title, one, show, detail } = resource.spec;
  const client = useQueryClient();
  const navigate = useNavigate();
  const { search } = useLocation();
  const { message } = App.useApp();
  const may = useMay();
  const wasAllowed = useWasAllowed(create);
  const close = useClose();
  // What was made is shown at once, where it has a page or drawer.
  const open = (answer: AnyRow) => {
    const id = answer[resource.spec.id ?? 'id'] as string | number | undefined;
    if (id === undefined || !show || !may(show)) return close();
    const address = `../${encodeURIComponent(String(id))}${detail ? '' : search}`;
    return void navigate(address, { relative: 'path', replace: true });
  };
  if (!create) return null;
  const name = t.create(read(one ?? title));
  if (!wasAllowed) return <Refused title={name} error={noPermission} onClose={close} />;
  return (
    <FormDrawer
      title={name}
      route={create.route}
      fields={create.fields as never}
      wide={create.wide}
      submit={create.submit && read(create.submit)}
      labelOf={(name) => labelOf(resource, name)}
      onClose={close}
      onDone={(answer) => {
        void message.success(t.created);
        open(answer);
        void client.invalidateQueries();
      }}
    />
  );
}

export function UpdateDrawer({ resource }: { resource: Resource }) {
  const { id = '' } = useParams();
  const { update, title } = resource.spec;
  const wasAllowed = useWasAllowed(update);
  const { data: latest, error, refetch } = useRow(resource, id, wasAllowed);
  const known = useRef(latest);
  if (latest) known.current = latest;
  const data = known.current;
  const client = useQueryClient();
  const navigate = useNavigate();
  const { search } = useLocation();
  const close = () => void (isFirstPage() ? navigate(`../..${search}`, { relative: 'path' }) : navigate(-1));
  if (!update) return null;
  // A form that is open stays, with what is typed, whatever a later call comes to.
  if (!wasAllowed) return <Refused title={t.edit} error={noPermission} onClose={close} />;
  if (error && !data) {
    return (
      <Refused
        title={read(title)}
        error={error}
        list={title}
        onRetry={() => void refetch()}
        onClose={close}
      />
    );
  }
  if (!data) return null;
  return (
    <FormDrawer
      title={`${t.edit} · ${nameOf(resource, data)}`}
      route={update.route}
      fields={update.fields as never}
      wide={update.wide}
      labelOf={(name) => labelOf(resource, name)}
      path={{ id }}
      row={data}
      refresh={async () => (await refetch()).data}
      onClose={close}
      onDone={() => {
        close();
        void client.invalidateQueries();
      }}
    />
  );
}

/** A drawer that says why there is no form. */
function Refused({
  title,
  onClose,
  ...problem
}: ComponentProps<typeof Problem> & { title: string; onClose: () => void }) {
  return (
    <Drawer open size={480} title={title} onClose={onClose}>
      <Problem {...problem} />
    </Drawer>
  );
}
