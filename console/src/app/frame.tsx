// Menu, header, and the screen.
import { MenuOutlined, QuestionCircleOutlined, SearchOutlined, UserOutlined } from '@ant-design/icons';
import { Alert, Button, Dropdown, Grid, Layout, Menu } from 'antd';
import { lazy, Suspense, useContext, useEffect, useMemo, useState } from 'react';
import { Outlet, useLocation, useNavigate } from 'react-router';
import { call } from '../contract/api.ts';
import { useIsLive } from '../contract/live.ts';
import { changeSettings, useSettings, type Language, type Theme } from '../contract/settings.ts';
import { languages, texts } from '../contract/texts.ts';
import { useProfile } from '../parts/profile.ts';
import { LeaveContext } from './leave.ts';
import { menuItems } from './menu.tsx';
import { useTrouble } from './trouble.ts';

const Palette = lazy(() => import('./palette.tsx'));
const Bell = lazy(() => import('./bell.tsx'));
const Side = lazy(() => import('./side.tsx'));

const t = texts({
  'zh-CN': {
    ...{
      brand: '管理后台',
      menu: '菜单',
      find: '查找…',
      keys: '快捷键',
      account: '账号',
      profile: '个人设置',
      leave: '退出登录',
    },
    ...{
      language: '语言',
      theme: '外观',
      light: '浅色',
      dark: '深色',
      system: '跟随系统',
      live: '实时',
      skip: '跳到内容',
    },
    ...{
      notLive: '实时连接已断开，正在重连',
      trouble: '服务暂时没有应答，恢复后会自动继续',
      fold: '折叠菜单',
    },
  },
  'en-US': {
    ...{
      brand: 'Back office',
      menu: 'Menu',
      find: 'Find…',
      keys: 'Keys',
      account: 'Account',
      profile: 'Profile',
      leave: 'Sign out',
    },
    ...{
      language: 'Language',
      theme: 'Appearance',
      light: 'Light',
      dark: 'Dark',
      system: 'As the system',
      live: 'Live',
      skip: 'To the content',
    },
    ...{
      notLive: 'Live connection lost, connecting again',
      trouble: 'The service does not answer for now; this page goes on when it does',
      fold: 'Fold the menu',
    },
  },
});

export function Frame() {
  const { isMenuFolded } = useSettings();
  const isWide = Grid.useBreakpoint().lg ?? true;
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [palette, setPalette] = useState<'find' | 'keys'>();
  const { pathname } = useLocation();
  useEffect(() => setMenuOpen(false), [pathname]);
  useKeys(setPalette);
  return (
    <Layout className="frame">
      <a href="#content" className="skip">
        {t.skip}
      </a>
      {isWide && (
        <Layout.Sider
          className="sider"
          width={220}
          collapsedWidth={64}
          collapsible
          trigger={null}
          collapsed={isMenuFolded}
        >
          <Brand isFolded={isMenuFolded} />
          <nav aria-label={t.menu}>
            <Navigation isFolded={isMenuFolded} />
          </nav>
        </Layout.Sider>
      )}
      <Layout>
        <Layout.Header className="head">
          <Button
            type="text"
            icon={<MenuOutlined />}
            aria-label={isWide ? t.fold : t.menu}
            onClick={() => (isWide ? changeSettings({ isMenuFolded: !isMenuFolded }) : setMenuOpen(true))}
          />
          <Button className="find" icon={<SearchOutlined />} onClick={() => setPalette('find')}>
            <span>{t.find}</span>
            <kbd>/</kbd>
          </Button>
          <span className="grow" />
          <LiveSign />
          <Button
            type="text"
            className="only-wide"
            icon={<QuestionCircleOutlined />}
            aria-label={t.keys}
            title={t.keys}
            onClick={() => setPalette('keys')}
          />
          <Suspense fallback={null}>
            <Bell />
          </Suspense>
          <Account />
        </Layout.Header>
        <Trouble />
        <Layout.Content id="content" className="content" tabIndex={-1} role="main">
          <Outlet />
        </Layout.Content>
      </Layout>
      {!isWide && isMenuOpen && (
        <Suspense fallback={null}>
          <Side title={t.brand} place="left" onClose={() => setMenuOpen(false)}>
            <Navigation isFolded={false} />
          </Side>
        </Suspense>
      )}
      {palette && (
        <Suspense fallback={null}>
          <Palette mode={palette} onClose={() => setPalette(undefined)} />
        </Suspense>
      )}
    </Layout>
  );
}

function Brand({ isFolded }: { isFolded: boolean }) {
  return (
    <div className="brand">
      <img src={`${import.meta.env.BASE_URL}icon.svg`} alt="" />
      {!isFolded && <span>{t.brand}</span>}
    </div>
  );
}

function Navigation({ isFolded }: { isFolded: boolean }) {
  const { menus } = useProfile();
  const { pathname } = useLocation();
  const items = useMemo(() => menuItems(menus), [menus]);
  const selected = `/${pathname.split('/').slice(1, 3).join('/')}`;
  const parents = items.map((item) => String(item?.key));
  // Scrolls a long menu to the current entry.
  useEffect(() => {
    document.querySelector('.menu .ant-menu-item-selected')?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  return (
    <Menu
      mode="inline"
      className="menu"
      inlineIndent={16}
      items={items}
      selectedKeys={[selected]}
      defaultOpenKeys={isFolded ? [] : parents}
    />
  );
}

function LiveSign() {
  const isLive = useIsLive();
  return (
    <span
      className={isLive ? 'live on' : 'live'}
      title={isLive ? t.live : t.notLive}
      role="status"
      aria-label={isLive ? t.live : t.notLive}
    />
  );
}

function Trouble() {
  const trouble = useTrouble();
  if (!trouble) return null;
  return <Alert banner type="warning" role="alert" title={trouble.isOffline ? trouble.message : t.trouble} />;
}

function Account() {
  const { nickname, username } = useProfile();
  const { language, theme } = useSettings();
  const leave = useContext(LeaveContext);
  const navigate = useNavigate();
  const signOut = () => {
    // The token is removed here even if the request fails.
    void call('POST /api/admin/logout').catch(() => undefined);
    leave();
  };
  const choice = (key: string, label: string, isChosen: boolean) => ({
    key,
    label: isChosen ? `✓ ${label}` : label,
  });
  const themes: [Theme, string][] = [
    ['light', t.light],
    ['dark', t.dark],
    ['system', t.system],
  ];
  const choose = (key: string) => {
    const [kind, value] = key.split(':');
    if (kind === 'language') changeSettings({ language: value as Language });
    else if (kind === 'theme') changeSettings({ theme: value as Theme });
    else if (kind === 'profile') void navigate('/access/profile');
    else if (kind === 'leave') signOut();
  };
  const items = [
    { key: 'profile', label: t.profile },
    {
      key: 'languages',
      label: t.language,
      children: Object.entries(languages).map(([one, label]) =>
        choice(`language:${one}`, label, one === language),
      ),
    },
    {
      key: 'themes',
      label: t.theme,
      children: themes.map(([one, label]) => choice(`theme:${one}`, label, one === theme)),
    },
    { type: 'divider' as const },
    { key: 'leave', label: t.leave },
  ];
  return (
    <Dropdown trigger={['click']} menu={{ items, onClick: ({ key }) => choose(key) }}>
      <Button type="text" icon={<UserOutlined />} aria-label={`${t.account}: ${nickname || username}`}>
        <span className="only-wide">{nickname || username}</span>
      </Button>
    </Dropdown>
  );
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

function useKeys(open: (mode: 'find' | 'keys') => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isFind = event.key === 'k' && (event.ctrlKey || event.metaKey);
      if (!isFind && (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey)) return;
      if (!isFind && event.key !== '/' && event.key !== '?') return;
      event.preventDefault();
      open(event.key === '?' ? 'keys' : 'find');
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [open]);
}
