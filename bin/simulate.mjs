// `npm run simulate -- --orders-per-day 10000000 [--apis 4 …]`: replays a day minute by minute against a set of machines, with the
// measured cost of a request (docs/measurements.md), and names what saturates first. A model: nothing is started.
import { parseArgs } from 'node:util';

import { command } from './lifetime.mjs';
import { Failure, say } from './step.mjs';

const defaults = {
  'orders-per-day': '100000',
  // Busiest minute of the day, as a multiple of the average one.
  peak: '10',
  apis: '2',
  workers: '2',
  // Of each machine with an API or a worker.
  cores: '2',
  'database-cores': '4',
  // Group commits of an NVMe drive with power-loss protection. Not measured here.
  'commits-per-second': '5000',
  replicas: '0',
  'lists-per-order': '5',
  'sign-ins-per-1000-orders': '1',
};

/** Share of a processor that answers come quickly below. */
const USABLE = 0.7;
const MINUTES = 1440;
/** A queue of BullMQ takes so many jobs a second (docs/scaling.md). */
const JOBS = 8000;
/** From so many a second on callbacks come together, and share their commits. */
const TOGETHER = 100;

/**
 * What a request costs, in milliseconds of processors, and in commits.
 *
 * @typedef {{ processes: number, database: number, redis: number, commits: number }} Cost
 */

/** @type {Record<'order' | 'payment' | 'callback' | 'alone' | 'list' | 'signIn', Cost>} */
const COSTS = {
  order: { processes: 0.71, database: 0.36, redis: 0.04, commits: 1.02 },
  payment: { processes: 1.25, database: 0.61, redis: 0.11, commits: 1.04 },
  callback: { processes: 0.61, database: 0.33, redis: 0.07, commits: 0.18 },
  alone: { processes: 2.2, database: 0.96, redis: 0.13, commits: 2 },
  list: { processes: 0.66, database: 0.2, redis: 0.04, commits: 0 },
  signIn: { processes: 55, database: 1, redis: 0.2, commits: 1 },
};

/** @typedef {{ name: string, unit: string, capacity: number, demand: (orders: number) => number }} Resource */

/** The share of the day's orders of each minute: quiet at night, busiest in the evening. @param {number} peak */
function dayOf(peak) {
  const shape = Array.from({ length: MINUTES }, (_, minute) => {
    const hour = minute / 60;
    const daytime = Math.max(0, Math.sin(((hour - 7) / 17) * Math.PI));
    // Narrow enough to keep the average.
    const evening = Math.exp(-(((hour - 20.5) / 0.35) ** 2));
    return { calm: 0.15 + daytime, evening };
  });
  const calm = shape.reduce((sum, one) => sum + one.calm, 0) / MINUTES;
  const busiest = shape.findIndex(({ evening }) => evening > 0.9999);
  const bump = shape.reduce((sum, one) => sum + one.evening, 0) / MINUTES;
  const atPeak = (shape[busiest]?.calm ?? 0) / calm;
  // Calm and evening together make 1 on average and `peak` at the busiest minute.
  const height = Math.max(0, (peak - atPeak) / (1 - bump * atPeak));
  return shape.map((one) => ((one.calm / calm) * (1 - height * bump) + height * one.evening) / MINUTES);
}

/** @param {Record<string, number>} set @returns {Resource[]} */
function resourcesOf(set) {
  const lists = set['lists-per-order'] ?? 0;
  const signIns = (set['sign-ins-per-1000-orders'] ?? 0) / 1000;
  const replicas = set.replicas ?? 0;
  /** @param {keyof Cost} part @param {boolean} withLists */
  const of =
    (part, withLists = true) =>
    (/** @type {number} */ orders) => {
      const callback = orders >= TOGETHER ? COSTS.callback : COSTS.alone;
      const reading = withLists ? lists * COSTS.list[part] : 0;
      return (
        orders *
        (COSTS.order[part] + COSTS.payment[part] + callback[part] + reading + signIns * COSTS.signIn[part])
      );
    };
  const cores = ((set.apis ?? 0) + (set.workers ?? 0)) * (set.cores ?? 0);
  const database = (set['database-cores'] ?? 0) * 1000 * USABLE;
  const resources = [
    {
      name: 'API and worker processors',
      unit: 'ms/s',
      capacity: cores * 1000 * USABLE,
      demand: of('processes'),
    },
    { name: 'database processors', unit: 'ms/s', capacity: database, demand: of('database', replicas === 0) },
    {
      name: 'database commits',
      unit: '1/s',
      capacity: set['commits-per-second'] ?? 0,
      demand: of('commits'),
    },
    { name: 'Redis processor', unit: 'ms/s', capacity: 1000 * USABLE, demand: of('redis') },
    { name: 'queue of payments', unit: 'jobs/s', capacity: JOBS, demand: jobs },
  ];
  if (replicas === 0) return resources;
  const reading = (/** @type {number} */ orders) => orders * lists * COSTS.list.database;
  return [
    ...resources,
    { name: 'replica processors', unit: 'ms/s', capacity: replicas * database, demand: reading },
  ];
}

// Up to eight share a job.
/** @param {number} orders */
const jobs = (orders) => (orders >= TOGETHER ? orders / 8 : orders);

/** Replays the day: what cannot be done in a minute waits for the next one. @param {Resource} resource @param {number[]} day @param {number} orders */
function replay({ name, unit, capacity, demand }, day, orders) {
  let [waiting, longest, busiest] = [0, 0, 0];
  let fullAt = -1;
  for (const [minute, share] of day.entries()) {
    const asked = demand((share * orders) / 60);
    busiest = Math.max(busiest, asked);
    waiting = Math.max(0, waiting + 60 * (asked - capacity));
    if (waiting > 0 && fullAt < 0) fullAt = minute;
    longest = Math.max(longest, waiting / capacity);
  }
  return { name, unit, capacity, busiest, fullAt, longest };
}

const clock = (/** @type {number} */ minute) =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;

/** So many orders a day fill it in the busiest minute. @param {Resource} resource @param {number} share */
function limitOf({ capacity, demand }, share) {
  let [low, high] = [0, 1e12];
  while (high - low > 1000) {
    const middle = (low + high) / 2;
    if (demand((share * middle) / 60) > capacity) high = middle;
    else low = middle;
  }
  return low;
}

command(async () => {
  const options = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [
      name,
      { type: /** @type {const} */ ('string'), default: value },
    ]),
  );
  const { values } = parseArgs({ options });
  /** @type {Record<string, number>} */
  const set = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
  const wrong = Object.keys(set).filter((name) => !((set[name] ?? NaN) >= 0));
  if (wrong.length > 0) throw new Failure(`not a number: ${wrong.map((name) => `--${name}`).join(', ')}`);
  const orders = set['orders-per-day'] ?? 0;
  const day = dayOf(set.peak ?? 1);
  const share = Math.max(...day);
  say(
    Object.entries(set)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
  );
  say(
    `${orders} orders a day: ${(orders / 86_400).toFixed(1)} a second on average, ${((share * orders) / 60).toFixed(0)} at the peak\n`,
  );
  const resources = resourcesOf(set);
  for (const resource of resources) {
    const { name, unit, capacity, busiest, fullAt, longest } = replay(resource, day, orders);
    const said =
      fullAt < 0 ? 'never full' : `full from ${clock(fullAt)}, the last one waits ${Math.ceil(longest)} s`;
    const share = `${((100 * busiest) / capacity).toFixed(0)} %`;
    say(`${name.padEnd(26)} ${share.padStart(7)} of ${capacity.toFixed(0)} ${unit}; ${said}`);
  }
  const limits = resources.map((resource) => ({ name: resource.name, orders: limitOf(resource, share) }));
  const [first] = limits.sort((one, other) => one.orders - other.orders);
  say(`\nfull first: ${first?.name}, at ${Math.round((first?.orders ?? 0) / 1000)} thousand orders a day`);
  return 0;
});
