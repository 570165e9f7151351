// The page around Swagger UI: a search over the operations, and a sign-in that sets the token.

/** The markup; the script fills in texts in the language of the browser. */
export const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Back-office API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="stylesheet" href="/docs/page.css">
    <link rel="icon" href="/docs/favicon-32x32.png">
  </head>
  <body>
    <header class="bar">
      <input id="search" type="search" autocomplete="off" spellcheck="false">
      <span id="found" role="status"></span>
      <span id="who"></span>
      <button id="enter" type="button"></button>
    </header>
    <dialog id="door" aria-labelledby="door-title">
      <form id="form" method="dialog">
        <h2 id="door-title"></h2>
        <label><span id="username-label"></span><input id="username" autocomplete="username" required></label>
        <label><span id="password-label"></span>
          <input id="password" type="password" autocomplete="current-password" required></label>
        <label id="captcha" hidden><span id="captcha-label"></span><img id="captcha-image" alt="">
          <input id="captcha-code" autocomplete="off"></label>
        <p id="problem" role="alert"></p>
        <menu>
          <button id="cancel" type="button"></button>
          <button id="send" type="submit"></button>
        </menu>
      </form>
    </dialog>
    <main id="swagger-ui"></main>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/page.js"></script>
  </body>
</html>
`;

export const styles = `
body { margin: 0; }
.bar { position: sticky; top: 0; z-index: 2; display: flex; gap: 12px; align-items: center; padding: 8px 20px;
  background: #fff; border-bottom: 1px solid #d8dde4; font: 14px/1.4 system-ui, sans-serif; color: #1f2933; }
.bar input { flex: 1; min-width: 0; max-width: 480px; }
#found { color: #52606d; white-space: nowrap; }
#who { margin-left: auto; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.bar input, #door input { font: inherit; padding: 7px 10px; border: 1px solid #7b8794; border-radius: 6px; }
.bar button, #door button { font: inherit; padding: 7px 14px; border: 1px solid #1d4ed8; border-radius: 6px; background: #fff;
  color: #1d4ed8; cursor: pointer; white-space: nowrap; }
#door #send { background: #1d4ed8; color: #fff; }
.bar :focus-visible, #door :focus-visible { outline: 2px solid #1d4ed8; outline-offset: 2px; }
#door { width: min(360px, calc(100vw - 32px)); box-sizing: border-box; border: 0; border-radius: 10px; padding: 20px;
  font: 14px/1.4 system-ui, sans-serif; color: #1f2933; box-shadow: 0 12px 40px rgb(0 0 0 / 30%); }
#door::backdrop { background: rgb(0 0 0 / 40%); }
#door h2 { margin: 0 0 12px; font-size: 18px; }
#door label { display: block; margin: 10px 0; }
#door label[hidden] { display: none; }
#door label input { display: block; width: 100%; box-sizing: border-box; margin-top: 4px; }
#captcha-image { display: block; max-width: 100%; margin-top: 4px; }
#door menu { display: flex; gap: 8px; justify-content: flex-end; margin: 16px 0 0; padding: 0; }
#problem { margin: 0; color: #b42318; }
/* Its search goes by the names of the groups only, and signing in by pasting a token. */
.swagger-ui .filter-container, .swagger-ui .scheme-container { display: none; }
@media (max-width: 640px) {
  .bar { padding: 8px 12px; gap: 8px; flex-wrap: wrap; }
  .bar input { flex: 1 1 100%; max-width: none; }
  .swagger-ui .wrapper { padding: 0 12px; }
  .swagger-ui .opblock-summary-path, .swagger-ui .opblock-description-wrapper { overflow-wrap: anywhere; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .markdown pre, .swagger-ui table { display: block; max-width: 100%; overflow-x: auto; }
}
`;

/** The script: plain JavaScript for the browser. */
export const script = String.raw`'use strict';
const isChinese = /^zh/i.test(navigator.language);
const say = isChinese
  ? { search: '搜索接口：路径、名称、说明', found: (n) => n + ' 个接口', enter: '登录', leave: '退出登录', title: '登录后试用接口',
      username: '用户名', password: '密码', captcha: '验证码', cancel: '取消', away: '服务没有应答，请稍后再试',
      change: '请先在控制台修改密码，再试用其他接口' }
  : { search: 'Search operations: path, name, words', found: (n) => n + (n === 1 ? ' operation' : ' operations'),
      enter: 'Sign in', leave: 'Sign out', title: 'Sign in to try operations', username: 'Username', password: 'Password',
      captcha: 'Characters of the picture', cancel: 'Cancel', away: 'The service does not answer; try again later',
      change: 'Change your password in the console first; until then other operations are refused' };
const $ = (id) => document.getElementById(id);
const bearer = 'bearer';
let token;
let captchaId;

document.documentElement.lang = isChinese ? 'zh-CN' : 'en';
for (const [id, text] of Object.entries({ enter: say.enter, send: say.enter, cancel: say.cancel, 'door-title': say.title,
  'username-label': say.username, 'password-label': say.password, 'captcha-label': say.captcha })) $(id).textContent = text;
$('search').placeholder = say.search;
$('search').setAttribute('aria-label', say.search);

// Every word must occur in path, method, name, summary or description.
const wordsOf = (phrase) => phrase.toLowerCase().split(/\s+/).filter(Boolean);
const textOf = (tag, one) => {
  const operation = one.get('operation');
  const parts = [tag, one.get('method'), one.get('path')];
  for (const name of ['operationId', 'summary', 'description']) parts.push(operation.get(name));
  return parts.join(' ').toLowerCase();
};
const opsFilter = (groups, phrase) =>
  groups
    .map((group, tag) => group.update('operations', (all) =>
      all.filter((one) => wordsOf(phrase).every((word) => textOf(tag, one).includes(word)))))
    .filter((group) => group.get('operations').size > 0);

const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  persistAuthorization: true,
  validatorUrl: null,
  plugins: [() => ({ fn: { opsFilter } })],
  // Requests go to the host of the page, by whatever name it was opened.
  requestInterceptor(request) {
    const { pathname, search } = new URL(request.url, location.href);
    request.url = location.origin + pathname + search;
    return request;
  },
  onComplete: () => void resume(),
});

let searching;
$('search').addEventListener('input', () => {
  clearTimeout(searching);
  searching = setTimeout(search, 150);
});

function search() {
  const phrase = $('search').value.trim();
  const isEmpty = wordsOf(phrase).length === 0;
  const groups = opsFilter(ui.specSelectors.taggedOperations(), phrase);
  ui.layoutActions.updateFilter(isEmpty ? true : phrase);
  // Expands the found operation, not only its group.
  groups.forEach((_, tag) => ui.layoutActions.show(['operations-tag', tag], !isEmpty));
  $('found').textContent = isEmpty ? '' : say.found(groups.reduce((sum, group) => sum + group.get('operations').size, 0));
}

async function ask(method, path, body) {
  const headers = { 'Accept-Language': isChinese ? 'zh-CN' : 'en-US' };
  if (token) headers.Authorization = 'Bearer ' + token;
  if (body) headers['Content-Type'] = 'application/json';
  const response = await fetch('/api/admin' + path, { method, headers, body: body && JSON.stringify(body) });
  return response.json();
}

async function resume() {
  token = ui.authSelectors.authorized().getIn([bearer, 'value']);
  if (!token) return;
  const answer = await ask('GET', '/info').catch(() => undefined);
  if (answer?.code === 200) show(answer.data.username);
  else if (answer?.error_code === 'password_change_required') show('');
  else if (answer) forget();
}

function show(username) {
  $('who').textContent = username;
  $('enter').textContent = say.leave;
}

function forget() {
  token = undefined;
  ui.authActions.logout([bearer]);
  ui.authActions.persistAuthorizationIfNeeded();
  $('who').textContent = '';
  $('enter').textContent = say.enter;
}

$('enter').addEventListener('click', async () => {
  if (!token) return $('door').showModal();
  await ask('POST', '/logout').catch(() => undefined);
  forget();
});
$('cancel').addEventListener('click', () => $('door').close());

$('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const body = { username: $('username').value, password: $('password').value };
  if (captchaId) Object.assign(body, { captcha_id: captchaId, captcha_code: $('captcha-code').value });
  $('send').disabled = true;
  try {
    await enter(await ask('POST', '/login', body), body.username);
  } catch {
    $('problem').textContent = say.away;
  } finally {
    $('send').disabled = false;
  }
});

async function enter(answer, username) {
  $('problem').textContent = answer.code === 200 ? '' : answer.message;
  if (answer.code !== 200) return showCaptcha(username);
  token = answer.data.token;
  ui.preauthorizeApiKey(bearer, token);
  ui.authActions.persistAuthorizationIfNeeded();
  show(answer.data.admin.username);
  $('password').value = '';
  if (answer.data.password_must_change) $('problem').textContent = say.change;
  else $('door').close();
}

async function showCaptcha(username) {
  const path = '/login/captcha?username=' + encodeURIComponent(username);
  const { data: wanted } = await ask('GET', path + '&check=1');
  const { data } = wanted?.required ? await ask('GET', path) : { data: null };
  captchaId = data?.captcha_id;
  $('captcha').hidden = !data;
  $('captcha-code').value = '';
  if (data) $('captcha-image').src = data.captcha_image;
}
`;
