// The page of a row: back link, name, status, actions.
import { ArrowLeftOutlined } from '@ant-design/icons';
import { Flex } from 'antd';
import { useLayoutEffect, type ReactNode } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { remember } from '../../contract/recent.ts';
import { read, texts, type Both } from '../../contract/texts.ts';
import { isFirstPage } from './location.ts';
import { LinkButton } from './link-button.tsx';
import { useTitle } from './use-title.ts';

const t = texts({
  back: ['返回', 'Back'],
  toList: ['返回列表', 'Back to the list'],
});

/** Numbers of orders and payments leave no room for the buttons beside them. */
const longTitle = 30;

interface Props {
  list: string;
  title: string;
  what: Both;
  state?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

export function RowPage({ list, title, what, state, actions, children }: Props) {
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const name = `${title} · ${read(what)}`;
  useTitle(name);
  // Before the effects of what it shows: a Problem may forget a record that no longer exists.
  useLayoutEffect(() => remember({ address: pathname, title: name }), [pathname, name]);
  const back = isFirstPage() ? t.toList : t.back;
  return (
    <article className="screen" data-page={list}>
      <Flex wrap gap={8} justify="space-between" align="center" className="screen-head">
        <Flex gap={10} align="center" wrap>
          <LinkButton
            to={list}
            type="text"
            icon={<ArrowLeftOutlined />}
            aria-label={back}
            title={back}
            onPress={(event) => {
              if (isFirstPage()) return;
              event.preventDefault();
              void navigate(-1);
            }}
          />
          <h1 className={title.length > longTitle ? 'long-title' : undefined}>{title}</h1>
          {state}
        </Flex>
        <Flex gap={8} wrap>
          {actions}
        </Flex>
      </Flex>
      {children}
    </article>
  );
}
