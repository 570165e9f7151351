// Title, row count and actions of a list.
import {
  AppstoreOutlined,
  BarsOutlined,
  PlusOutlined,
  ReloadOutlined,
  SettingOutlined,
} from '@ant-design/icons';
import { Button, Checkbox, Flex, Popover } from 'antd';
import { useLocation } from 'react-router';
import { changeSettings, useSettings } from '../contract/settings.ts';
import { plural, read, texts } from '../contract/texts.ts';
import type { ListState } from './codec.ts';
import { ExportButton } from './export.tsx';
import { LinkButton } from './link-button.tsx';
import { showCount } from './money.ts';
import { useMay } from './profile.ts';
import { foldedIn, labelOf, type Resource } from './resource.ts';
import type { Page } from './use-list.ts';

const t = texts({
  'zh-CN': {
    rows: (count: string, _: number) => `共 ${count} 条`,
    create: '新建',
    reload: '刷新',
    columns: '显示的列',
    tiles: '显示为网格',
    table: '显示为列表',
  },
  'en-US': {
    rows: (count: string, exact: number) => `${count} ${plural(exact, 'entry', 'entries')}`,
    create: 'New',
    reload: 'Refresh',
    columns: 'Columns',
    tiles: 'As a grid',
    table: 'As a list',
  },
});

interface HeadProps {
  resource: Resource;
  data: Page | undefined;
  state: ListState;
  onReload: () => void;
  children: React.ReactNode;
}

export function ListHead({ resource, data, state, onReload, children }: HeadProps) {
  const { spec } = resource;
  const may = useMay();
  const { search } = useLocation();
  const Extra = spec.extra;
  return (
    <Flex wrap gap={8} align="center" justify="space-between" className="screen-head">
      <Flex align="baseline" gap={12}>
        <h1>{read(spec.title)}</h1>
        <span className="soft" role="status">
          {data?.total !== undefined && t.rows(showCount(data.total), data.total)}
        </span>
      </Flex>
      <Flex gap={8} wrap>
        {children}
        <Button icon={<ReloadOutlined />} aria-label={t.reload} title={t.reload} onClick={onReload} />
        {spec.tiles && <Tiles name={spec.name} />}
        <Columns resource={resource} />
        {spec.exportTo && may(spec.exportTo) && (
          <ExportButton route={spec.exportTo} filters={state.filters} />
        )}
        {Extra && <Extra />}
        {spec.create && may(spec.create.route) && (
          <LinkButton to={`new${search}`} type="primary" icon={<PlusOutlined />}>
            {t.create}
          </LinkButton>
        )}
      </Flex>
    </Flex>
  );
}

function Tiles({ name }: { name: string }) {
  const { tiled } = useSettings();
  const isTiled = tiled.includes(name);
  const text = isTiled ? t.table : t.tiles;
  return (
    <Button
      icon={isTiled ? <BarsOutlined /> : <AppstoreOutlined />}
      aria-label={text}
      title={text}
      onClick={() =>
        changeSettings({ tiled: isTiled ? tiled.filter((one) => one !== name) : [...tiled, name] })
      }
    />
  );
}

// Chosen columns are a setting, not part of the link.
function Columns({ resource }: { resource: Resource }) {
  const settings = useSettings();
  const { hidden } = settings;
  const { name, columns } = resource.spec;
  const off = foldedIn(resource, settings);
  const names = Object.keys(columns);
  return (
    <Popover
      trigger="click"
      placement="bottomRight"
      title={t.columns}
      content={
        <Checkbox.Group
          className="column-choice"
          value={names.filter((column) => !off.includes(column))}
          options={names.map((column) => ({ value: column, label: read(labelOf(resource, column)) }))}
          onChange={(on) =>
            changeSettings({ hidden: { ...hidden, [name]: names.filter((column) => !on.includes(column)) } })
          }
        />
      }
    >
      <Button icon={<SettingOutlined />} aria-label={t.columns} title={t.columns} />
    </Popover>
  );
}
