// `npm run test:packets`: the service in a network namespace of its own, where the packets of every established connection to the
// database, to Redis and to both are dropped without a word, while new connections work. Needs root, `ip` and `nft`; nothing may
// serve from this checkout meanwhile.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { projectRoot } from '../../config/environment.js';

// Not by name: a package has put another nft into the PATH of npm's commands.
const NFT = '/usr/sbin/nft';
const NAMESPACE = 'dropped-packets';
const ADDRESS = 'http://127.0.0.1:3000';
const SECRET = 'a secret of sixteen characters';
const PAYMENTS = 400;
/** Nothing may be answered later, and everything must be well again after this (docs/promises.md, R19). */
const [MAX_ANSWER_MS, MAX_RECOVERY_MS] = [10_000, 15_000];

type Headers = Record<string, string>;
type Payment = { payment_no: string; amount: number };
type Answer<T> = { status: number; ms: number; data: T | undefined };

const run = (program: string, ...args: string[]) => execFileSync(program, args, { encoding: 'utf8' });
const say = (line: string) => process.stdout.write(`${line}\n`);

async function outside(): Promise<number> {
  process.on('SIGINT', () => {}); // the inner process has it too, and ends first
  run('ip', 'netns', 'add', NAMESPACE);
  try {
    run('ip', 'netns', 'exec', NAMESPACE, 'ip', 'link', 'set', 'lo', 'up');
    const self = fileURLToPath(import.meta.url);
    const inner = spawn('ip', ['netns', 'exec', NAMESPACE, process.execPath, self, 'inside'], {
      stdio: 'inherit',
    });
    const [code] = (await once(inner, 'exit')) as [number | null];
    return code ?? 1;
  } finally {
    run('ip', 'netns', 'del', NAMESPACE);
  }
}

async function inside(): Promise<number> {
  const service = spawn(process.execPath, ['bin/up.mjs'], {
    cwd: projectRoot,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const ports = await portsOf(service);
    run(NFT, 'add table inet silence');
    run(NFT, 'add set inet silence pairs { type inet_service . inet_service ; }');
    run(NFT, 'add chain inet silence out { type filter hook output priority 0 ; }');
    run(NFT, 'add rule inet silence out tcp sport . tcp dport @pairs counter drop');
    const admin = await signIn();
    const payments = await makePayments(admin);
    const acknowledged = new Set<string>();
    const held: boolean[] = [];
    for (const [name, silenced] of Object.entries({
      database: [ports.database],
      redis: [ports.redis],
      both: [ports.database, ports.redis],
    }))
      held.push(await phase(name, silenced, admin, payments, acknowledged));
    await sleep(8000);
    let paid = 0;
    for (const number of acknowledged) if (await isPaid(number, admin)) paid++;
    const dropped = Number(/counter packets (\d+)/.exec(run(NFT, 'list table inet silence'))?.[1]);
    say(`packets dropped ${dropped}, callbacks acknowledged ${acknowledged.size}, paid ${paid}`);
    return held.every(Boolean) && dropped > 0 && paid === acknowledged.size && paid > 0 ? 0 : 1;
  } finally {
    service.kill('SIGINT');
    await once(service, 'exit');
  }
}

/** The ports of the servers, as `npm start` prints them; resolves when the service is ready. */
async function portsOf(service: ChildProcess) {
  let printed = '';
  service.stdout?.on('data', (data: Buffer) => (printed += data.toString()));
  while (!printed.includes('ready: api and worker')) {
    if (service.exitCode !== null) throw new Error(`the service did not start: ${printed}`);
    await sleep(100);
  }
  const port = (name: string) =>
    new RegExp(`${name} answers on 127\\.0\\.0\\.1:(\\d+)`).exec(printed)?.[1] ?? '';
  return { database: port('database'), redis: port('Redis') };
}

async function call<T>(
  method: string,
  path: string,
  body?: object,
  headers: Headers = {},
): Promise<Answer<T>> {
  const started = performance.now();
  const target = path.startsWith('//') ? ADDRESS + path.slice(1) : `${ADDRESS}/api/admin${path}`;
  const type: Headers = body ? { 'Content-Type': 'application/json' } : {};
  const options = { method, headers: { ...type, ...headers }, body: body && JSON.stringify(body) };
  const response = await fetch(target, options);
  const { data } = (await response.json()) as { data?: T };
  return { data, status: response.status, ms: performance.now() - started };
}

async function signIn(): Promise<Headers> {
  const { data } = await call<{ token: string }>('POST', '/login', {
    username: 'admin',
    password: 'admin123',
  });
  return { Authorization: `Bearer ${data?.token}` };
}

async function isPaid(number: string, admin: Headers): Promise<boolean> {
  const { data } = await call<{ status: string }>('GET', `/payments/${number}`, undefined, admin);
  return data?.status === 'paid';
}

async function makePayments(admin: Headers): Promise<Payment[]> {
  const made = async <T>(path: string, body: object): Promise<T> => {
    const { data, status } = await call<T>('POST', path, body, admin);
    if (!data) throw new Error(`POST ${path} answered ${status}`);
    return data;
  };
  const user = await made<{ id: number }>('/users', { username: `user-${randomUUID().slice(0, 8)}` });
  const method = await made<{ id: number }>('/payment-methods', { type: 'mock', shared_secret: SECRET });
  const details = [{ product_name: 'Tea', price: '1.20', quantity: 1 }];
  const payments: Payment[] = [];
  for (let count = 0; count < PAYMENTS; count++) {
    const { order_no } = await made<{ order_no: string }>('/orders', { user_id: user.id, details });
    payments.push(await made<Payment>('/payments', { order_no, payment_method_id: method.id }));
  }
  return payments;
}

/** Drops what comes and goes on every connection there is now. @returns how many there were */
function silence(port: string): number {
  const lines = run('ss', '-Htn', 'state', 'established', `( dport = :${port} )`).trim().split('\n');
  const clients = lines.filter(Boolean).map((line) => line.trim().split(/\s+/)[2]?.split(':').pop());
  for (const client of clients)
    run(NFT, `add element inet silence pairs { ${client} . ${port}, ${port} . ${client} }`);
  return clients.length;
}

/** Three seconds of load, silence, eighteen seconds more. @returns whether nobody waited too long */
async function phase(
  name: string,
  ports: string[],
  admin: Headers,
  payments: Payment[],
  acknowledged: Set<string>,
): Promise<boolean> {
  const seen: { kind: string; status: number; ms: number; endedAt: number }[] = [];
  let isOver = false;
  const repeat = async (kind: string, everyMs: number, ask: () => Promise<Answer<unknown>>) => {
    const asked: Promise<unknown>[] = [];
    while (!isOver) {
      asked.push(ask().then(({ status, ms }) => seen.push({ kind, status, ms, endedAt: performance.now() })));
      await sleep(everyMs);
    }
    await Promise.all(asked);
  };
  const pay = async () => {
    const payment = payments[Math.floor(Math.random() * payments.length)] as Payment;
    const signed = `${payment.payment_no}|SUCCESS|${Number(payment.amount).toFixed(2)}`;
    const sign = createHmac('sha256', SECRET).update(signed).digest('hex');
    const body = { out_trade_no: payment.payment_no, trade_status: 'SUCCESS', sign };
    const answer = await call('POST', '//api/payment/notify/mock', body);
    if (answer.status === 200) acknowledged.add(payment.payment_no);
    return answer;
  };
  const load = [
    repeat('list', 50, () => call('GET', '/orders?page_size=5', undefined, admin)),
    repeat('callback', 100, pay),
    repeat('readiness', 200, () => call('GET', '//readyz')),
  ];
  await sleep(3000);
  const count = ports.map(silence).reduce((sum, one) => sum + one, 0);
  const silencedAt = performance.now();
  await sleep(18_000);
  isOver = true;
  await Promise.all(load);

  let isHeld = true;
  for (const kind of ['list', 'callback', 'readiness']) {
    const after = seen.filter((one) => one.kind === kind && one.endedAt > silencedAt);
    const unwell = after.filter(({ status, ms }) => status !== 200 || ms > 1000);
    const refused = after.filter(({ status }) => status !== 200).length;
    const worstMs = Math.max(...after.map(({ ms }) => ms));
    const recoveryMs = Math.max(0, ...unwell.map(({ endedAt }) => endedAt - silencedAt));
    isHeld &&= worstMs < MAX_ANSWER_MS && recoveryMs < MAX_RECOVERY_MS;
    say(
      `${name}, ${count} connections silenced: ${kind} ${after.length} answers, ${refused} of them 503, ` +
        `worst ${Math.round(worstMs)} ms, well after ${(recoveryMs / 1000).toFixed(1)} s`,
    );
  }
  return isHeld;
}

process.exitCode = await (process.argv[2] === 'inside' ? inside() : outside());
