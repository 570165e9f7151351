// What commits with an administrator's write: its entry in the operation log, and its Idempotency-Key.
import Joi from 'joi';
import { setUnit } from '../../lib/process/context.js';
import { AppError } from '../../lib/errors/app-error.js';
import type { Transaction, Unit } from '../../lib/database/unit.js';
import { validate } from '../../lib/input/validation.js';
import { extendPartitions, lacksPartition } from '../../models/tables/partitions.js';
import { isStored, storeWithWrite } from '../../models/logs/log-entries.js';
import { claimKey, findEarlier, type Repeatable } from '../../models/trade/idempotency-key.js';
import { operationEntry } from './operation-log.js';
import type { Context } from './request-state.js';
import { permissionOf, type Access, type Call, type Route } from './route.js';

/** Up to 128 visible ASCII characters. */
export const idempotencyKey = Joi.string()
  .max(128)
  .pattern(/^[\x21-\x7e]+$/)
  .example('order-7f3a91c2');

const header = 'Idempotency-Key';

const headers = Joi.object({ [header]: idempotencyKey });

/** The Idempotency-Key of a request, if any. */
function idempotencyKeyOf(ctx: Context): string | undefined {
  const given = { [header]: ctx.get(header) || undefined };
  return (validate(headers, given) as Record<string, string | undefined>)[header];
}

type AnyCall = Call<Access, object, object, object>;

/**
 * Handles a logged call so that its log entry commits with the write, and a repeated Idempotency-Key returns the
 * first record.
 *
 * @throws idempotency_key_reused when the key was used for another request
 */
export async function handleAsUnit(route: Route, call: AnyCall, ctx: Context): Promise<unknown> {
  const repeatable = repeatableOf(route, call, ctx);
  const again = repeatable && (await answerEarlier(route, call, repeatable));
  if (again) return again.answer;
  const unit = unitOf(route, call, ctx, repeatable);
  setUnit(unit);
  try {
    return await route.handle(call, ctx);
  } catch (error) {
    setUnit(undefined);
    // What this request has made itself is not repeated after a refusal: its channel would be asked twice.
    if (unit.hasClaimed() && error instanceof AppError && error.slug !== 'database_unavailable') throw error;
    // A concurrent request with the same key was quicker, and this one conflicted with its record.
    const meanwhile = repeatable && (await answerEarlier(route, call, repeatable));
    if (meanwhile) return meanwhile.answer;
    throw error;
  } finally {
    setUnit(undefined);
  }
}

async function answerEarlier(
  route: Route,
  call: AnyCall,
  repeatable: Repeatable,
): Promise<{ answer: unknown } | undefined> {
  const id = await findEarlier(repeatable);
  return id === undefined ? undefined : { answer: await route.repeat?.(id, call) };
}

function repeatableOf(route: Route, call: AnyCall, ctx: Context): Repeatable | undefined {
  const { admin, body, upload, params } = call;
  const key = route.repeat && idempotencyKeyOf(ctx);
  if (!key || !admin) return undefined;
  const { path: _, ...file } = upload ?? { path: '' };
  return {
    scope: permissionOf(route)?.slug ?? route.path,
    adminId: admin.adminId,
    key,
    request: { body, file, ...unlessEmpty('params', params), ...unlessEmpty('query', sentQuery(call, ctx)) },
  };
}

// Requests without them are hashed as by releases that did not know them.
const unlessEmpty = (name: string, values: object): object =>
  Object.keys(values).length > 0 ? { [name]: values } : {};

/** What the caller sent of the declared query, without defaults. */
function sentQuery({ query }: AnyCall, ctx: Context): object {
  return Object.fromEntries(Object.entries(query).filter(([name]) => name in ctx.query));
}

interface WriteUnit extends Unit {
  /** Whether the key was claimed by a transaction of this request. */
  hasClaimed(): boolean;
}

function unitOf(route: Route, call: AnyCall, ctx: Context, repeatable: Repeatable | undefined): WriteUnit {
  const { state } = ctx;
  let isClaimed = false;
  let claims = false;
  let isFirst = true;
  let isMended = false;
  const isRemoval = route.method === 'DELETE';
  return {
    async begin(t: Transaction) {
      if (isFirst) state.before = await route.subject?.(call, t);
    },
    async end(t: Transaction, result: unknown) {
      if (isFirst) state.after = isRemoval ? {} : await route.subject?.(call, t);
      const id = idOf(result);
      claims = repeatable !== undefined && !isClaimed && id !== undefined;
      if (claims) await claimKey(repeatable as Repeatable, id as number, t);
      const entry = operationEntry(ctx);
      await storeWithWrite(entry, t);
      // The first transaction stores the entry, later ones only replace it: then its presence proves nothing.
      const isNew = isFirst;
      return async () => isNew && isStored(entry.log_key);
    },
    hasClaimed: () => isClaimed,
    committed() {
      isFirst = false;
      isClaimed ||= claims;
    },
    async mend(error) {
      // The log has no partition of this month: under a clock that is months ahead, or after months without
      // maintenance.
      if (isMended || !lacksPartition(error)) return false;
      isMended = true;
      await extendPartitions();
      return true;
    },
  };
}

// The transaction that makes a record returns its id, the record, or several; earlier ones do not.
function idOf(result: unknown): number | undefined {
  // 0: no id was generated.
  if (typeof result === 'number') return result === 0 ? undefined : result;
  if (Array.isArray(result)) return idOf(result[0]);
  const { id } = (result ?? {}) as { id?: unknown };
  return typeof id === 'number' ? id : undefined;
}
