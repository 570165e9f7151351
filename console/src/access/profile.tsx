// One's own account: data, password, and display settings of this browser.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { App, Button, Form, Input, Segmented, Select, Skeleton } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { call, type Body } from '../contract/api.ts';
import { browserZone, changeSettings, useSettings, type Language, type Theme } from '../contract/settings.ts';
import { languages, read, texts, themes } from '../contract/texts.ts';
import { DraftNote } from '../parts/form/draft-note.tsx';
import { useDraft, useLeaveGuard } from '../parts/form/draft.ts';
import { changed, rebase, touched } from '../parts/form/form-values.ts';
import { PasswordForm } from '../parts/form/password-form.tsx';
import { Time } from '../parts/show/cells.tsx';
import { useAsk } from '../parts/show/dialogs.tsx';
import { keepFocus } from '../parts/show/focus.ts';
import { failureOf, Problem, SendProblem } from '../parts/show/problem.tsx';
import { useProfile } from '../parts/show/profile.ts';
import { useTitle } from '../parts/show/use-title.ts';

const t = texts({
  title: ['个人设置', 'Profile'],
  data: ['资料', 'Account'],
  password: ['密码', 'Password'],
  display: ['显示', 'Display'],
  nickname: ['昵称', 'Display name'],
  email: ['邮箱', 'Email'],
  phone: ['电话', 'Phone'],
  save: ['保存', 'Save'],
  saved: ['已保存', 'Saved'],
  language: ['语言', 'Language'],
  zone: ['时区', 'Time zone'],
  theme: ['外观', 'Appearance'],
  own: [(zone: string) => `${zone}（浏览器时区）`, (zone) => `${zone} (browser time zone)`],
  others: ['修改密码后，其他会话会立即结束。', 'Changing your password ends your other sessions at once.'],
  sessions: ['我的会话', 'My sessions'],
  here: ['当前会话', 'This session'],
  since: ['登录于', 'signed in'],
  active: ['最近活动', 'last active'],
  end: ['结束', 'End'],
  ended: ['会话已结束', 'The session has ended'],
  sure: ['该会话会立即结束，确定？', 'This session ends at once. Continue?'],
});

type Fields = Body<'PUT /api/admin/profile'>;

export default function ProfileScreen() {
  const { message } = App.useApp();
  useTitle(t.title);
  return (
    <section className="screen narrow" data-screen="profile">
      <h1>{t.title}</h1>
      <section className="panel">
        <h2>{t.data}</h2>
        <Account />
      </section>
      <section className="panel">
        <h2>{t.display}</h2>
        <Display />
      </section>
      <section className="panel">
        <h2>{t.sessions}</h2>
        <Sessions />
      </section>
      <section className="panel">
        <h2>{t.password}</h2>
        <span className="soft">{t.others}</span>
        <PasswordForm onDone={() => void message.success(t.saved)} />
      </section>
    </section>
  );
}

function Account() {
  const { nickname, email, phone } = useProfile();
  const stored: Fields = { nickname, email, phone };
  const draft = useDraft('profile', {});
  const [isDirty, setDirty] = useState(draft.known !== undefined);
  useLeaveGuard(isDirty);
  const client = useQueryClient();
  const { message } = App.useApp();
  const [form] = Form.useForm<Fields>();
  const settle = () => {
    draft.forget();
    setDirty(false);
  };
  // Another tab or administrator may change them meanwhile: what is not edited here follows, and is not sent.
  const base = useRef<Fields>(stored);
  useEffect(() => {
    form.setFieldsValue(rebase(form.getFieldsValue(), base.current, stored).taken);
    base.current = stored;
  }, [nickname, email, phone]);
  const save = useMutation({
    mutationFn: (body: Fields) => call('PUT /api/admin/profile', { body }),
    onSuccess: (profile, sent) => {
      settle();
      // What was typed since is not saved.
      const typed = touched(form.getFieldsValue(), { ...base.current, ...sent });
      draft.keep(typed, profile);
      setDirty(Object.keys(typed).length > 0);
      client.setQueryData(['info'], profile);
      void message.success(t.saved);
    },
    onError: (error) => {
      const { errors = {} } = failureOf(error).details;
      form.setFields(
        Object.entries(errors).map(([name, messages]) => ({ name: name as keyof Fields, errors: messages })),
      );
    },
  });
  return (
    <Form
      form={form}
      layout="vertical"
      initialValues={{ ...stored, ...draft.known?.values }}
      onFinish={(values) => save.mutate(changed(values, base.current))}
      onValuesChange={(_, values) => {
        draft.keep(touched(values, stored), stored);
        setDirty(true);
      }}
    >
      {draft.known && (
        <DraftNote
          onDiscard={() => {
            form.setFieldsValue(stored);
            settle();
          }}
        />
      )}
      {save.error && !failureOf(save.error).details.errors && <SendProblem failure={failureOf(save.error)} />}
      <Form.Item name="nickname" label={t.nickname} rules={[{ required: true }]}>
        <Input maxLength={50} />
      </Form.Item>
      <Form.Item name="email" label={t.email}>
        {/* Not of the type "email": browsers would object in their own language. */}
        <Input inputMode="email" autoComplete="email" maxLength={100} />
      </Form.Item>
      <Form.Item name="phone" label={t.phone}>
        <Input inputMode="tel" autoComplete="tel" maxLength={30} />
      </Form.Item>
      <Button type="primary" htmlType="submit" loading={save.isPending}>
        {t.save}
      </Button>
    </Form>
  );
}

function Sessions() {
  const client = useQueryClient();
  const { message } = App.useApp();
  const askFirst = useAsk();
  const { data, error, refetch } = useQuery({
    queryKey: ['own-sessions'],
    queryFn: ({ signal }) => call('GET /api/admin/profile/sessions', { signal }),
    meta: { scopes: ['identity'] },
  });
  const end = useMutation({
    mutationFn: (id: number) => call('DELETE /api/admin/profile/sessions/{id}', { path: { id } }),
    onSuccess: () => void message.success(t.ended),
    onError: (failure) => void message.error(failureOf(failure).message),
    onSettled: () => client.invalidateQueries({ queryKey: ['own-sessions'] }).then(keepFocus),
  });
  const ask = (id: number) =>
    askFirst({
      title: t.sure,
      button: t.end,
      danger: true,
      onYes: () => end.mutateAsync(id).catch(() => undefined),
    });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton active title={false} />;
  return (
    <ul className="plain-list">
      {data.map(({ id, browser, os, ip, created_at, last_active, is_current }) => (
        <li key={id} className="own-session" data-session={id}>
          <span>
            {[browser, os].filter(Boolean).join(', ')} <code>{ip}</code>
            <br />
            <span className="soft">
              {t.since} <Time at={created_at} /> · {t.active} <Time at={last_active} />
            </span>
          </span>
          {is_current ? (
            <span className="soft">{t.here}</span>
          ) : (
            <Button danger size="small" onClick={() => ask(id)}>
              {t.end}
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}

function Display() {
  const { language, zone, theme } = useSettings();
  const own = browserZone();
  const zones = [...new Set([own, 'UTC', ...Intl.supportedValuesOf('timeZone')])];
  return (
    <Form layout="vertical" component="div">
      <Form.Item label={t.language} htmlFor="language">
        <Select<Language>
          id="language"
          value={language}
          onChange={(chosen) => changeSettings({ language: chosen })}
          options={Object.entries(languages).map(([value, label]) => ({ value: value as Language, label }))}
        />
      </Form.Item>
      <Form.Item label={t.zone} htmlFor="zone">
        <Select
          id="zone"
          showSearch
          value={zone}
          onChange={(chosen: string) => changeSettings({ zone: chosen })}
          options={zones.map((value) => ({
            value,
            label: value === own ? t.own(value) : value,
          }))}
        />
      </Form.Item>
      <Form.Item label={t.theme}>
        <Segmented<Theme>
          aria-label={t.theme}
          value={theme}
          options={Object.entries(themes).map(([value, label]) => ({
            value: value as Theme,
            label: read(label),
          }))}
          onChange={(chosen) => changeSettings({ theme: chosen })}
        />
      </Form.Item>
    </Form>
  );
}
