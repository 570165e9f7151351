// What the requests are about: callers, and records that are made anew round by round, so that requests go deep.
import { config } from '../../config/index.js';
import type { Client } from '../support/client.js';
import {
  makeAdmin,
  makeMethod,
  makeOrder,
  makePayment,
  makeRole,
  makeUser,
  unique,
} from '../support/factories.js';
import type { MadeOrder, MadePayment } from '../support/factories.js';

export const secret = 'a shared secret that is as long as it should be';

/** Permissions of the caller with a few rights. */
const fewSlugs = [
  ...['order.index', 'order.show', 'order.store', 'order.import', 'user.index', 'user.show'],
  ...['payment.index', 'payment.show', 'payment.store', 'payment_method.index', 'attachment.index'],
  ...['attachment.store', 'dictionary.index', 'dictionary.store', 'user_balance_log.index', 'dashboard.show'],
];

export type ActorName = 'super' | 'few' | 'anonymous';

/** Who asks; a token that was given up is replaced. */
export class Actor {
  readonly name: ActorName;
  /** Slugs it holds; undefined for all. */
  readonly slugs: ReadonlySet<string> | undefined;
  #token = '';
  #renewal: Promise<void> | undefined;
  readonly #signIn: () => Promise<Client>;

  constructor(name: ActorName, signIn: () => Promise<Client>, slugs?: ReadonlySet<string>) {
    [this.name, this.#signIn, this.slugs] = [name, signIn, slugs];
  }

  get authorization(): string {
    return this.#token;
  }

  /** Signs in as a fresh administrator: what it was before may have ended its session or be locked. */
  renew(given = this.#token): Promise<void> {
    if (given !== this.#token) return Promise.resolve();
    this.#renewal ??= this.#signIn().then((client) => {
      this.#token = client.headers.Authorization as string;
      this.#renewal = undefined;
    });
    return this.#renewal;
  }
}

/** Records of the current round. Ids that may be harmed; no actor is among them. */
export interface Pools {
  users: number[];
  orders: MadeOrder[];
  payments: MadePayment[];
  methods: number[];
  admins: number[];
  usernames: string[];
  roles: number[];
  menus: number[];
  permissions: number[];
  sessions: number[];
  /** By the first segment of the path. */
  others: Record<string, number[]>;
}

export class World {
  /** Makes the records; no request knows of it. */
  readonly keeper: Client;
  readonly actors: Record<ActorName, Actor>;
  pools!: Pools;

  private constructor(keeper: Client, actors: Record<ActorName, Actor>) {
    [this.keeper, this.actors] = [keeper, actors];
  }

  /** Makes the actors. @param first the first administrator, whom requests may change as everybody else */
  static async make(first: Client): Promise<World> {
    // Odd numbers in requests are small: those administrators, roles and sessions are nobody's who is needed.
    for (let made = 0; made < 20; made++) {
      const [account] = await Promise.all([makeAdmin(first), makeRole(first)]);
      await first.with({ Authorization: '' }).signIn(account);
    }
    const { list } = (await first.get('/roles?slug=super-admin')).data as { list: { id: number }[] };
    const enter = async (by: Client, { id }: { id: number }): Promise<Client> =>
      by.with({ Authorization: '' }).signIn(await makeAdmin(by, [id]));
    const keeper = await enter(first, list[0] as { id: number });
    const roles = { super: list[0] as { id: number }, few: await makeRole(keeper, fewSlugs) };
    const world = new World(keeper, {
      super: new Actor('super', () => enter(keeper, roles.super)),
      few: new Actor('few', () => enter(keeper, roles.few), new Set(fewSlugs)),
      anonymous: new Actor('anonymous', () => Promise.resolve(keeper), new Set()),
    });
    await Promise.all([world.actors.super.renew(), world.actors.few.renew()]);
    return world;
  }

  /** New records for the next round: always as many, so that the same seed picks the same ones. */
  async refresh(): Promise<void> {
    const { keeper } = this;
    const make = <T>(count: number, one: () => Promise<T>): Promise<T[]> =>
      Promise.all(Array.from({ length: count }, one));
    const id = async (path: string, body: object): Promise<number> => {
      const { status, text, data } = await keeper.post(path, body);
      if (status !== 200) throw new Error(`${path} could not be made: ${text}`);
      return data.id as number;
    };
    const named = (): { name: string; code: string } => ({ name: unique('fz '), code: unique('fz-') });
    const methods = await make(2, () => makeMethod(keeper, secret));
    const users = await make(4, () => makeUser(keeper));
    for (const user of users)
      await keeper.post(`/users/${user.id}/update-balance`, { type: 'income', amount: '1000.50' });
    const victims = await make(3, () => makeAdmin(keeper));
    const [victim] = victims;
    await keeper.with({ Authorization: '' }).signIn(victim);
    const online = (await keeper.get(`/online-admins?username=${victim?.username}`)).data as {
      list: { id: number }[];
    };
    this.pools = {
      users: users.map((user) => user.id),
      orders: await make(20, () => makeOrder(keeper, '12.30', { user_id: users[0]?.id })),
      payments: await make(20, () => makePayment(keeper, methods[0]?.id as number, '24.60')),
      methods: methods.map((method) => method.id),
      admins: victims.map((victim) => victim.id),
      usernames: victims.map((victim) => victim.username),
      roles: (await make(2, () => makeRole(keeper, ['order.index']))).map((role) => role.id),
      menus: await make(2, () => id('/menus', { title: 'fz', slug: unique('fz-'), type: 2 })),
      permissions: await make(2, () =>
        id('/permissions', { name: 'fz', slug: unique('fz.'), method: 'GET', path: `/${unique()}` }),
      ),
      sessions: online.list.map((session) => session.id),
      others: {
        departments: await make(2, () => id('/departments', named())),
        dictionaries: await make(2, () => id('/dictionaries', named())),
        notifications: await make(2, () => id('/notifications', { title: 'fz', content: 'fz' })),
        blacklists: await make(1, () => id('/blacklists', { ip: `198.18.${octet()}.${octet()}` })).catch(
          () => [1],
        ),
        attachments: [
          (await keeper.upload('/attachments/upload', 'a text', { filename: 'a.txt' })).data.id as number,
        ],
      },
    };
  }
}

const octet = (): number => parseInt(unique('').slice(0, 2), 16);

/** What no answer may ever hold. */
export const neverTold = [
  secret,
  'secret-1',
  config.root,
  'node_modules',
  'build/src',
  config.auth.jwtSecret,
];
