// Traces of activity: sign-ins, operations, system logs, balances, notifications, dictionaries and blacklist entries.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Resvg } from '@resvg/resvg-js';
import { now } from '../../lib/clock.js';
import { Money } from '../../lib/money.js';
import { newUlid } from '../../lib/secrets/random-id.js';
import { readUserAgent } from '../../lib/user-agent.js';
import { addAttachment, readFileName } from '../../models/files/attachment.js';
import { Attachment } from '../../models/files/tables.js';
import { storeItems, type LogItem } from '../../models/logs/log-outbox.js';
import { createBlacklist } from '../../models/office/blacklist.js';
import { createDictionary } from '../../models/office/dictionary.js';
import { storeNotification } from '../../models/office/notification.js';
import { Dictionary } from '../../models/office/tables.js';
import { changeBalance } from '../../models/trade/balance.js';
import type { Chance } from './chance.js';
import type { Person } from './people.js';
import { agents } from './words.js';

const address = (chance: Chance): string => `198.51.100.${chance.between(2, 250)}`;

/** Entries of a day, into the outbox; the worker moves them on. */
export async function fillLogs(start: Date, staff: readonly Person[], chance: Chance): Promise<void> {
  const moment = () => new Date(start.getTime() + chance.between(8 * 3600, 20 * 3600) * 1000).toISOString();
  const items: LogItem[] = [];
  for (const person of staff) {
    if (chance.happens(0.25)) continue;
    items.push(signIn(person, moment(), chance));
    for (let count = chance.between(0, 3); count > 0; count--)
      items.push(operation(person, moment(), chance));
  }
  if (chance.happens(0.3)) items.push(systemLine(moment(), chance));
  // Nothing of today lies in the future.
  const past = items.filter(({ entry }) => Date.parse(entry.created_at) <= Date.now());
  if (past.length > 0) await storeItems(past);
}

function signIn(person: Person, created_at: string, chance: Chance): LogItem {
  const user_agent = chance.pick(agents);
  const isIn = chance.happens(0.92);
  const outcome = isIn ? 'login_success' : 'username_or_password_error';
  const { browser, os, device } = readUserAgent(user_agent);
  return {
    kind: 'login',
    entry: {
      log_key: newUlid(),
      admin_id: person.id,
      username: person.username,
      ip: address(chance),
      user_agent,
      browser,
      os,
      device,
      status: isIn ? 1 : 0,
      outcome,
      created_at,
    },
  };
}

const operations = [
  {
    module: 'order',
    action: 'update',
    title: '修改订单',
    method: 'PUT',
    path: '/api/admin/orders/1',
    field: 'remark',
  },
  {
    module: 'user',
    action: 'update',
    title: '修改用户',
    method: 'PUT',
    path: '/api/admin/users/1',
    field: 'phone',
  },
  { module: 'order', action: 'export', title: '导出订单', method: 'POST', path: '/api/admin/orders/export' },
  {
    module: 'payment',
    action: 'query',
    title: '查询支付结果',
    method: 'POST',
    path: '/api/admin/payments/1/query',
  },
];

function operation(person: Person, created_at: string, chance: Chance): LogItem {
  const { field, ...what } = chance.pick(operations);
  const status = chance.happens(0.95) ? 200 : 422;
  const changes = field && status === 200 ? JSON.stringify([{ field, old: null, new: '13800000000' }]) : null;
  return {
    kind: 'operation',
    entry: {
      log_key: newUlid(),
      admin_id: person.id,
      username: person.username,
      ...what,
      ip: address(chance),
      user_agent: chance.pick(agents),
      request: null,
      status,
      duration_ms: chance.between(8, 240),
      changes,
      trace_id: newUlid(),
      created_at,
    },
  };
}

function systemLine(created_at: string, chance: Chance): LogItem {
  const message = chance.pick([
    'a payment company answered slowly',
    'a file was removed after its time',
    'a job was run again',
  ]);
  const context = JSON.stringify({ duration_ms: chance.between(2000, 9000) });
  return {
    kind: 'system',
    entry: {
      log_key: newUlid(),
      level: 'warning' as const,
      module: 'worker',
      message,
      context,
      trace_id: newUlid(),
      created_at,
    },
  };
}

/** A few balances of a day change; one request id counts once. */
export async function fillBalances(
  day: string,
  users: readonly Person[],
  staff: readonly Person[],
  chance: Chance,
) {
  for (let count = chance.between(1, 4); count > 0; count--) {
    const user = chance.pick(users);
    const by = chance.pick(staff);
    const amount = Money.from(`${chance.between(10, 500)}.00`);
    const request_id = `demo-${day}-${count}`;
    const change = { type: 'income' as const, amount, source: 'manual', description: '充值', request_id };
    await changeBalance(user.id, change, { id: by.id, username: by.username });
    if (!chance.happens(0.4)) continue;
    const spent = {
      ...change,
      type: 'expense' as const,
      amount: Money.from('5.00'),
      description: '余额抵扣',
    };
    await changeBalance(
      user.id,
      { ...spent, request_id: `${request_id}-spent` },
      { id: by.id, username: by.username },
    );
  }
}

/** An announcement of a month; of one event there is one. */
export async function fillNotification(month: string): Promise<void> {
  await storeNotification({
    type: 'announcement',
    title: `${month} 月度对账完成`,
    content: '本月渠道账单与系统记录一致，差异为 0。',
    eventKey: `demo-${month}`,
  });
}

/** Dictionaries and turned-away addresses. */
export async function fillWords(): Promise<void> {
  if ((await Dictionary.count({ where: { code: 'express' } })) > 0) return;
  const parent_id = await createDictionary({ name: '快递公司', code: 'express', description: '发货时可选' });
  for (const [at, [name, code]] of [
    ['顺丰速运', 'sf'],
    ['京东物流', 'jd'],
    ['中国邮政', 'ems'],
  ].entries())
    await createDictionary({
      parent_id,
      name: name ?? '',
      code: `express_${code ?? ''}`,
      value: code ?? null,
      sort: at,
    });
  await createBlacklist({ ip: '203.0.113.0/28', remark: '扫描' }, '127.0.0.1');
  await createBlacklist({ ip: '192.0.2.77', remark: '反复猜测密码' }, '127.0.0.1');
}

/** A few small files of the administrator, once. */
export async function fillFiles(owner: Person): Promise<void> {
  if ((await Attachment.count({ where: { display_name: 'receipt-0.png' } })) > 0) return;
  const folder = await mkdtemp(join(tmpdir(), 'back-office-demo-'));
  try {
    for (const [at, colour] of ['#0958d9', '#237804', '#ad6800', '#cf1322'].entries())
      await addFile(owner, join(folder, `receipt-${at}.png`), `receipt-${at}.png`, picture(colour));
    const note = Buffer.from('月份,金额\n2026-10,1234.00\n2026-11,2345.00\n');
    await addFile(owner, join(folder, 'statement.csv'), 'statement.csv', note);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function addFile(owner: Person, path: string, filename: string, content: Buffer): Promise<void> {
  await writeFile(path, content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const file = { path, size: content.length, sha256 };
  await addAttachment(owner.id, readFileName(filename, 'file'), file, (range) =>
    Promise.resolve(createReadStream(path, range)),
  );
}

function picture(colour: string): Buffer {
  const day = now().toISOString().slice(0, 10);
  const lines = [60, 90, 120].map(
    (y) => `<rect x="24" y="${y}" width="${240 - y}" height="10" fill="#ccc"/>`,
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="200"><title>${day}</title>
    <rect width="320" height="200" fill="#fff"/><rect width="320" height="36" fill="${colour}"/>${lines.join('')}</svg>`;
  return new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng();
}
