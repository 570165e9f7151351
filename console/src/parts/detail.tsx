// One row beside its list: fields, actions, and forms to create and change it.
import { EditOutlined } from '@ant-design/icons';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Drawer, Flex, Skeleton } from 'antd';
import { useLocation, useNavigate, useParams } from 'react-router';
import { call, type Route } from '../contract/api.ts';
import { read, texts } from '../contract/texts.ts';
import { ActionButtons } from './actions.tsx';
import { FormDrawer } from './form-drawer.tsx';
import { LinkButton } from './link-button.tsx';
import { Problem } from './problem.tsx';
import { useMay } from './profile.ts';
import { Facts } from './facts.tsx';
import { labelOf, type AnyRow, type Resource } from './resource.ts';
import { useReturnFocus } from './use-return-focus.ts';

const t = texts({
  'zh-CN': { edit: '修改', create: '新建' },
  'en-US': { edit: 'Edit', create: 'New' },
});

/** One row, by the id in the URL. */
export function useRow({ spec }: Resource, id: string) {
  const route = spec.show as Route;
  return useQuery({
    queryKey: [spec.name, 'one', id],
    queryFn: async ({ signal }) => (await call(route, { path: { id }, signal })) as AnyRow,
    meta: { scopes: spec.stale ?? [] },
  });
}

function useClose(): () => void {
  const navigate = useNavigate();
  const { search, key } = useLocation();
  // Back to the list, or to its route when opened by a shared link.
  return () => void (key === 'default' ? navigate(`..${search}`, { relative: 'path' }) : navigate(-1));
}

export function RowDrawer({ resource }: { resource: Resource }) {
  const { id = '' } = useParams();
  const { search } = useLocation();
  const { data, error, refetch } = useRow(resource, id);
  const { update, label, title, below: Below } = resource.spec;
  useReturnFocus();
  const may = useMay();
  const close = useClose();
  return (
    <Drawer open size={560} title={data ? String(data[label ?? 'id']) : read(title)} onClose={close}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
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
          <Facts resource={resource} row={data} />
          {Below && <Below row={data} />}
        </>
      )}
    </Drawer>
  );
}

export function CreateDrawer({ resource }: { resource: Resource }) {
  const { create, title } = resource.spec;
  const client = useQueryClient();
  const close = useClose();
  if (!create) return null;
  return (
    <FormDrawer
      title={`${t.create} · ${read(title)}`}
      route={create.route}
      fields={create.fields as never}
      wide={create.wide}
      labelOf={(name) => labelOf(resource, name)}
      onClose={close}
      onDone={() => {
        close();
        void client.invalidateQueries();
      }}
    />
  );
}

export function UpdateDrawer({ resource }: { resource: Resource }) {
  const { id = '' } = useParams();
  const { update, title, label } = resource.spec;
  const { data, error, refetch } = useRow(resource, id);
  const client = useQueryClient();
  const navigate = useNavigate();
  const { key, search } = useLocation();
  const close = () =>
    void (key === 'default' ? navigate(`../..${search}`, { relative: 'path' }) : navigate(-1));
  if (!update) return null;
  if (error) {
    return (
      <Drawer open size={480} title={read(title)} onClose={close}>
        <Problem error={error} onRetry={() => void refetch()} />
      </Drawer>
    );
  }
  if (!data) return null;
  return (
    <FormDrawer
      title={`${t.edit} · ${String(data[label ?? 'id'])}`}
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
