// Menu, header, and the screen.
import { MenuOutlined, QuestionCircleOutlined, SearchOutlined, UserOutlined } from '@ant-design/icons';
import { Alert, Button, Grid, Layout, Menu, Modal } from 'antd';
import { createContext, lazy, Suspense, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { Outlet, useLocation, useNavigate } from 'react-router';
import { useLiveness } from '../contract/live.ts';
import { useOutage } from '../contract/outage.ts';
import { changeSettings, useSettings, type Language, type Theme } from '../contract/settings.ts';
import { languages, read, texts, themes } from '../contract/texts.ts';
import { Guard } from '../parts/show/guard.tsx';
import { keepFocus } from '../parts/show/focus.ts';
import { MenuButton } from '../parts/show/menu-button.tsx';
import { useProfile } from '../parts/show/profile.ts';
import { directoryOf, menuItems } from './menu.tsx';
import { placesOf } from './places.ts';

/** Signs out: ends the session, removes the token and shows the sign-in form. */
export const SignOutContext = createContext<() => void>(() => undefined);

const Palette = lazy(() => import('./palette.tsx'));
const Bell = lazy(() => import('./bell.tsx'));
const Side = lazy(() => import('./side.tsx'));

const t = texts({
  brand: ['管理后台', 'Back office'],
  menu: ['菜单', 'Menu'],
  find: ['查找…', 'Find…'],
  keys: ['快捷键', 'Keys'],
  account: ['账号', 'Account'],
  profile: ['个人设置', 'Profile'],
  signOut: ['退出登录', 'Sign out'],
  language: ['语言', 'Language'],
  theme: ['外观', 'Appearance'],
  live: ['实时', 'Live'],
  skip: ['跳到内容', 'Skip to content'],
  lost: ['实时连接已断开，正在重连', 'Live updates lost, reconnecting'],
  paused: [
    '打开的标签页过多，此页的实时更新已暂停，回到此页时恢复',
    'Too many tabs are open: live updates wait until you come back to this one',
  ],
  unavailable: [
    '服务暂时没有应答，恢复后会自动继续',
    'The service is not responding; this page continues as soon as it does',
  ],
  fold: ['折叠菜单', 'Collapse the menu'],
});

export function Frame() {
  const { isMenuFolded } = useSettings();
  const isWide = Grid.useBreakpoint().lg ?? true;
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [palette, setPalette] = useState<'find' | 'keys'>();
  const { pathname } = useLocation();
  const known = useRef(pathname);
  useEffect(() => {
    setMenuOpen(false);
    if (known.current !== pathname) {
      // Questions about what was left.
      Modal.destroyAll();
      keepFocus();
    }
    known.current = pathname;
  }, [pathname]);
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
          <Button
            className="find"
            icon={<SearchOutlined />}
            aria-label={t.find}
            onClick={() => setPalette('find')}
          >
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
          <Guard place="cell">
            <Suspense fallback={<span className="bell-place" />}>
              <Bell />
            </Suspense>
          </Guard>
          <Account />
        </Layout.Header>
        <Outage />
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
        <Guard place="drawer">
          <Suspense fallback={null}>
            <Palette mode={palette} onClose={() => setPalette(undefined)} />
          </Suspense>
        </Guard>
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
  return (
    <Guard of={menus}>
      <Entries isFolded={isFolded} />
    </Guard>
  );
}

// Groups are folded, except the current one and those unfolded since.
function Entries({ isFolded }: { isFolded: boolean }) {
  const profile = useProfile();
  const { pinned } = useSettings();
  const { pathname } = useLocation();
  const items = useMemo(() => menuItems(profile, pinned), [profile, pinned]);
  const selected = `/${pathname.split('/').slice(1, 3).join('/')}`;
  const [unfolded, setUnfolded] = useState<string[]>([]);
  const current = directoryOf(items, selected);
  useEffect(() => setUnfolded(current), [selected]);
  return (
    <Menu
      mode="inline"
      className="menu"
      inlineIndent={16}
      items={items}
      selectedKeys={[selected]}
      {...(isFolded ? {} : { openKeys: unfolded, onOpenChange: setUnfolded })}
    />
  );
}

function LiveSign() {
  const liveness = useLiveness();
  return (
    <span
      className={liveness === 'live' ? 'live on' : 'live'}
      title={t[liveness]}
      role="status"
      aria-label={t[liveness]}
    />
  );
}

function Outage() {
  const outage = useOutage();
  if (!outage) return null;
  return (
    <Alert banner type="warning" role="alert" title={outage.isOffline ? outage.message : t.unavailable} />
  );
}

function Account() {
  const { nickname, username } = useProfile();
  const { language, theme } = useSettings();
  const signOut = useContext(SignOutContext);
  const navigate = useNavigate();
  const choice = (key: string, label: string, isChosen: boolean) => ({
    key,
    label: isChosen ? `✓ ${label}` : label,
  });
  const choose = (key: string) => {
    const [kind, value] = key.split(':');
    if (kind === 'language') changeSettings({ language: value as Language });
    else if (kind === 'theme') changeSettings({ theme: value as Theme });
    else if (kind === 'profile') void navigate('/access/profile');
    else if (kind === 'sign-out') signOut();
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
      children: Object.entries(themes).map(([one, label]) =>
        choice(`theme:${one}`, read(label), one === theme),
      ),
    },
    { type: 'divider' as const },
    { key: 'sign-out', label: t.signOut },
  ];
  return (
    <MenuButton
      items={items}
      onChoose={choose}
      type="text"
      icon={<UserOutlined />}
      aria-label={`${t.account}: ${nickname || username}`}
    >
      <span className="only-wide">{nickname || username}</span>
    </MenuButton>
  );
}

// A box that was ticked takes no letters.
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement
    ? !/^(checkbox|radio)$/.test(target.type)
    : target instanceof HTMLElement &&
      (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName));

const sequenceMs = 1500;

function useKeys(open: (mode: 'find' | 'keys') => void): void {
  const navigate = useNavigate();
  const profile = useProfile();
  const wentAt = useRef(0);
  useEffect(() => {
    const places = placesOf(profile);
    const press = (event: KeyboardEvent) => {
      const isFind = event.key === 'k' && (event.ctrlKey || event.metaKey);
      if (!isFind && (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey)) return;
      const isBehind = document.querySelector('[role=dialog]') !== null;
      const act = actionOf(event.key, isFind);
      if (!act || (isBehind && !isFind && event.key !== '?')) return;
      event.preventDefault();
      act();
    };
    const actionOf = (key: string, isFind: boolean): (() => void) | undefined => {
      if (isFind || key === '/') return () => open('find');
      if (key === '?') return () => open('keys');
      const place = Date.now() - wentAt.current < sequenceMs ? places.get(key) : undefined;
      wentAt.current = key === 'g' ? Date.now() : 0;
      if (place) return () => void navigate(place.address);
      if (key === 'j' || key === 'k') return () => focusRow(key === 'j' ? 1 : -1);
      const create =
        key === 'n' && document.querySelector<HTMLElement>('.screen-head a.ant-btn-primary[href*="/new"]');
      return create ? () => create.click() : undefined;
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [open, navigate, profile]);
}

function focusRow(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('a.row-link')];
  const at = rows.findIndex((row) => row === document.activeElement);
  rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step]?.focus();
}
