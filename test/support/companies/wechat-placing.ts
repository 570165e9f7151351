// WeChat Pay's answers to a placed transaction.
import type { ServerResponse } from 'node:http';
import { reset } from '../reset.js';
import type { RsaKeys } from './rsa-keys.js';
import type { Signing } from './wechat-results.js';

/** How it answers a transaction. */
export type WechatMood =
  | 'well'
  | 'refusing'
  | 'garbled'
  | 'empty'
  | 'forging'
  | 'unsigned'
  | 'replaying'
  | 'slow'
  | 'silent'
  | 'dripping'
  | 'resetting'
  | 'redirecting'
  | 'switching'
  | 'flooding';

/** Signs and sends an answer. */
export type Send = (status: number, content: unknown, by?: Signing) => void;

/** @param good what it says when all is well @param wrong keys that are not its own */
export function answerPlacing(
  mood: WechatMood,
  good: object,
  response: ServerResponse,
  send: Send,
  wrong: RsaKeys,
): void {
  const actions: Record<WechatMood, () => void> = {
    well: () => send(200, good),
    refusing: () => send(403, { code: 'NO_AUTH', message: '商户号\u0000未开通\r\n此产品权限' }),
    garbled: () => send(200, '<html>502 Bad Gateway</html>'),
    empty: () => send(200, {}),
    // Generating a new key may take longer than the caller waits.
    forging: () => send(200, good, { with: wrong }),
    unsigned: () => response.writeHead(200).end(JSON.stringify(good)),
    replaying: () => send(200, good, { at: new Date(Date.now() - 3_600_000) }),
    slow: () => void setTimeout(() => send(200, good), 700),
    silent: () => undefined,
    dripping: () => drip(response),
    resetting: () => response.socket && reset(response.socket),
    redirecting: () => response.writeHead(307, { Location: '/v3/elsewhere' }).end(),
    switching: () => response.writeHead(101, { Connection: 'Upgrade', Upgrade: 'h2c' }).end(),
    flooding: () => send(200, { ...good, more: 'x'.repeat(1_000_000) }),
  };
  actions[mood]();
}

// Never ends, and is never idle for long.
function drip(response: ServerResponse): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write(' '), 100);
  response.once('close', () => clearInterval(timer));
}
