// The sign-in form, without the component library, so that it is shown at once.
import { useCallback, useEffect, useRef, useState, type FormEvent } from 'react';
import { call, Failure } from '../contract/api.ts';
import { session } from '../contract/session.ts';
import { changeSettings, currentSettings } from '../contract/settings.ts';
import { texts } from '../contract/texts.ts';

const t = texts({
  title: ['登录管理后台', 'Sign in to the back office'],
  username: ['用户名', 'Username'],
  password: ['密码', 'Password'],
  captcha: ['验证码', 'Characters in the image'],
  another: ['换一张', 'New image'],
  enter: ['登录', 'Sign in'],
  entering: ['正在登录…', 'Signing in…'],
  other: ['English', '中文'],
  ended: ['会话已结束，请重新登录', 'Your session has ended. Sign in to continue'],
  revoked: [
    '您的会话已结束：可能由其他管理员或您在别处结束，或因密码已更改。请重新登录',
    'Your session was ended by another administrator, from elsewhere, or by a new password. Sign in to continue',
  ],
  elsewhere: ['您已在其他标签页退出登录', 'You signed out in another tab'],
  what: ['订单、支付与用户的管理后台，仅供管理员使用', 'Orders, payments, users – administrators only'],
  show: ['显示密码', 'Show password'],
  hide: ['隐藏密码', 'Hide password'],
  trace: ['追踪号', 'Trace'],
  wait: [
    (message: string, minutes: number) => `${message}（${minutes} 分钟后）`,
    (message, minutes) => `${message} (in ${minutes} min)`,
  ],
});

interface Captcha {
  captcha_id: string | null;
  captcha_image: string | null;
}

/** With the time that a limit or a lock-out lasts. */
const messageOf = ({ message, details: { retryAfter } }: Failure): string =>
  retryAfter ? t.wait(message, Math.ceil(retryAfter / 60)) : message;

/** Why the form is shown to somebody who was signed in. */
export type Reason = 'ended' | 'revoked' | 'elsewhere';

export function SignIn({ reason, onEnter }: { reason?: Reason; onEnter: () => void }) {
  const [failure, setFailure] = useState<Failure>();
  const [isBusy, setBusy] = useState(false);
  const [isShown, setShown] = useState(false);
  const [captcha, setCaptcha] = useState<Captcha>();
  const form = useRef<HTMLFormElement>(null);

  useEffect(() => {
    document.title = t.title;
  }, []);

  const drawCaptcha = useCallback(async () => {
    setCaptcha(await call('GET /api/admin/login/captcha').catch(() => undefined));
  }, []);

  // Requested once a name is entered, so that nobody types a password for nothing.
  const askForCaptcha = async (username: string) => {
    if (captcha || !username) return;
    const asked = await call('GET /api/admin/login/captcha', { query: { username, check: true } }).catch(
      () => undefined,
    );
    if (asked?.required) await drawCaptcha();
  };

  const enter = async (event: FormEvent) => {
    event.preventDefault();
    const given = new FormData(form.current as HTMLFormElement);
    const text = (name: string) => {
      const value = given.get(name);
      return typeof value === 'string' ? value : '';
    };
    setBusy(true);
    setFailure(undefined);
    try {
      const proof = captcha ? { captcha_id: captcha.captcha_id, captcha_code: text('captcha_code') } : {};
      const body = { username: text('username'), password: text('password'), ...proof };
      const { token } = await call('POST /api/admin/login', { body });
      // Another tab may have signed in meanwhile, and this one with it.
      if (session.token) return;
      session.begin(token);
      onEnter();
    } catch (error) {
      const known = error instanceof Failure ? error : new Failure(String(error), 0);
      setFailure(known);
      if (captcha || known.details.errors?.captcha_code) await drawCaptcha();
      else await askForCaptcha(text('username'));
      // Only once the new picture is shown: an answer to the old one is wrong.
      setBusy(false);
      form.current
        ?.querySelector<HTMLInputElement>(captcha ? '[name=captcha_code]' : '[name=password]')
        ?.select();
    }
  };

  const wrong = (field: string) => failure?.details.errors?.[field] !== undefined;
  const { language } = currentSettings();
  return (
    <main className="sign-in">
      <form ref={form} onSubmit={(event) => void enter(event)}>
        <img src={`${import.meta.env.BASE_URL}icon.svg`} alt="" />
        <h1>{t.title}</h1>
        <p className="what">{t.what}</p>
        {reason && !failure && <p role="alert">{t[reason]}</p>}
        {failure && (
          <p role="alert">
            {messageOf(failure)}
            {failure.details.trace_id && (
              <span className="trace">
                {t.trace} {failure.details.trace_id}
              </span>
            )}
          </p>
        )}
        <label>
          {t.username}
          <input
            name="username"
            autoComplete="username"
            required
            maxLength={100}
            autoFocus
            aria-invalid={wrong('username')}
            onBlur={(event) => void askForCaptcha(event.target.value)}
          />
        </label>
        <div className="password">
          <label>
            {t.password}
            <input
              name="password"
              type={isShown ? 'text' : 'password'}
              autoComplete="current-password"
              required
              maxLength={200}
              aria-invalid={wrong('password')}
            />
          </label>
          <button type="button" className="plain" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
            {isShown ? t.hide : t.show}
          </button>
        </div>
        {captcha?.captcha_image && (
          <div>
            <label htmlFor="captcha">{t.captcha}</label>
            <div className="captcha">
              <input
                id="captcha"
                name="captcha_code"
                autoComplete="off"
                required
                maxLength={16}
                aria-invalid={wrong('captcha_code')}
              />
              <button type="button" title={t.another} onClick={() => void drawCaptcha()}>
                <img src={captcha.captcha_image} alt={t.another} />
              </button>
            </div>
          </div>
        )}
        <button type="submit" disabled={isBusy}>
          {isBusy ? t.entering : t.enter}
        </button>
      </form>
      <button
        type="button"
        className="plain"
        lang={language === 'zh-CN' ? 'en' : 'zh'}
        onClick={() => changeSettings({ language: language === 'zh-CN' ? 'en-US' : 'zh-CN' })}
      >
        {t.other}
      </button>
    </main>
  );
}
