// Sites whose lists bench:http reads, and the service and its baseline agreeing on them.
import { deepStrictEqual } from 'node:assert/strict';
import { fillOrders } from './orders.js';
import { startApi, type Process } from './processes.js';
import { say } from './report.js';
import { call, sessionOf, signIn, type Page } from './session.js';
import { makeSite, withRedis, type Site } from './site.js';

/** A site with that many orders, and no process running. */
export async function filledSite(name: string, orders: number): Promise<Site> {
  const site = await makeSite(name);
  await (await startApi(site)).stop();
  const startedAt = performance.now();
  await fillOrders(site.db, orders);
  say(
    `${orders.toLocaleString('en-US')} orders inserted in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
  );
  return site;
}

/** Signs in and makes the token known to the baseline as well. */
export async function signInBoth({ url }: Process, { env }: Site): Promise<{ authorization: string }> {
  const headers = await signIn(url);
  await withRedis((redis) =>
    redis.set(`{${env.REDIS_PREFIX}}:baseline:${sessionOf(headers)}`, '1', 'EX', 3600),
  );
  return headers;
}

/** The baseline answers exactly the records and the total that the service answers. */
export async function mustAgree(
  [api, baseline]: [Process, Process],
  headers: Record<string, string>,
  path: string,
): Promise<void> {
  const [own, bare] = await Promise.all([
    call<Page>(api.url + path, headers),
    call<Page>(baseline.url + path, headers),
  ]);
  deepStrictEqual(own, bare);
}
