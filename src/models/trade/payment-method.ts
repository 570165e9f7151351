// payment_methods: how customers may pay. Secrets are stored encrypted and never answered.
import Joi from 'joi';
import type { Transaction } from 'sequelize';
import type { MethodConfig } from '../../lib/channels/channel.js';
import { channelType } from '../../lib/channels/index.js';
import { refuseDuplicates, select, transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { logger } from '../../lib/watch/logger.js';
import { blankToNull, textFilter } from '../../lib/input/schema.js';
import { listQuery, Where, type Criteria, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { randomToken } from '../../lib/secrets/random-id.js';
import type { Fields, Listed } from '../tables/table.js';
import { columnsOf, computed, type RowOf, selection } from '../tables/selection.js';
import { lockRows, updateRows } from '../tables/rows.js';
import {
  areSealedToday,
  changedSettings,
  isOtherAccount,
  newSettings,
  openedConfig,
  sealedAnew,
  shownConfig,
} from './method-settings.js';
import { PaymentMethod } from './tables.js';

export type MethodFields = Fields<PaymentMethod, 'name' | 'code' | 'config' | 'secrets'> & {
  name?: string;
  code?: string;
  config?: MethodConfig;
};

const methodFilters = {
  name: textFilter(50),
  code: textFilter(50),
  type: channelType().allow('').max(20),
  is_active: Joi.boolean(),
};

type MethodFilter = Criteria<typeof methodFilters> & ListQuery;

/** The query of the list. */
export const methodQuery = listQuery<MethodFilter>(
  ['id', 'name', 'code', 'type', 'is_active', 'sort', 'created_at', 'updated_at'],
  methodFilters,
);

type MethodRecord = Listed<PaymentMethod> & {
  /** Every set key; a secret one shows `***`. */
  config: MethodConfig;
  has_shared_secret: boolean;
  in_use: boolean;
};

const duplicates = {
  uq_payment_methods_code: { slug: 'payment_method_code_exists', field: 'code' },
} as const;

// The names of the secrets are shown, so only these are read. MySQL hands JSON over parsed, MariaDB as text.
const secretNames = computed(
  'JSON_KEYS(m.secrets)',
  (stored) => (typeof stored === 'string' ? JSON.parse(stored) : stored) as string[],
);

const shown = {
  ...columnsOf(PaymentMethod, 'm'),
  ...columnsOf(PaymentMethod, 'm', 'config'),
  secret_names: secretNames,
  in_use: computed('EXISTS (SELECT 1 FROM payments p WHERE p.payment_method_id = m.id)', Boolean),
};
const methods = selection(shown, 'payment_methods m');

const settings = selection(columnsOf(PaymentMethod, 'm', 'id', 'config', 'secrets'), 'payment_methods m');

export async function listMethods(query: MethodFilter): Promise<Page<MethodRecord>> {
  const where = new Where()
    .contains('m.name', query.name)
    .contains('m.code', query.code)
    .equalsAscii('m.type', query.type)
    .equals('m.is_active', query.is_active)
    .during('m.created_at', query);
  const page = await methods.page(query, where);
  return { ...page, list: page.list.map(toRecord) };
}

/** A method, locked in a transaction. @throws payment_method_not_found */
export async function getMethod(id: number, t?: Transaction): Promise<MethodRecord> {
  if (t) await lockRows('payment_methods m', new Where().equals('m.id', id), t);
  const row = await methods.first('WHERE m.id = :id', { id }, { t });
  return toRecord(row ?? fail('payment_method_not_found'));
}

/** Active methods for select boxes. */
export function methodOptions(): Promise<{ value: number; label: string }[]> {
  return select(
    'SELECT id AS value, name AS label FROM payment_methods WHERE is_active = 1 ORDER BY sort, id',
  );
}

/** @throws what `newSettings` throws, payment_method_code_exists */
export async function createMethod({ config = {}, ...fields }: MethodFields): Promise<number> {
  const { name = fields.type, code = `${fields.type}_${randomToken(6)}` } = fields;
  const columns = { ...blankToNull(fields), name, code, ...newSettings(fields.type, config) };
  return refuseDuplicates(
    transact(async (t) => (await PaymentMethod.create(columns, { transaction: t })).id),
    duplicates,
  );
}

/**
 * Changes only the fields and configuration keys given; an empty text removes a key. The type is fixed.
 *
 * @throws payment_method_not_found, payment_method_code_exists and what `changedSettings` throws
 * @throws payment_method_account_in_use when the account changes while something of it is open
 */
export async function updateMethod(
  id: number,
  { config, ...fields }: Partial<Omit<MethodFields, 'type'>>,
): Promise<void> {
  await refuseDuplicates(
    transact(async (t) => {
      const method = await PaymentMethod.unscoped().findByPk(id, { transaction: t, lock: true });
      if (!method) fail('payment_method_not_found');
      const settings = config && changedSettings(method.type, method, config);
      if (settings && isOtherAccount(method.type, method, settings)) await assertNothingOpen(id, t);
      await method.update({ ...blankToNull(fields), ...settings }, { transaction: t });
    }),
    duplicates,
  );
}

// Another account does not know what was paid or refunded in this one, and its word would be final.
async function assertNothingOpen(id: number, t: Transaction): Promise<void> {
  const open = await select(
    `SELECT f.payment_no FROM payment_follow_ups f
       JOIN payments p ON p.payment_no = f.payment_no AND p.period = f.period WHERE p.payment_method_id = :id
     UNION ALL
     SELECT r.payment_no FROM refunds r WHERE r.status IN ('waiting', 'pending', 'processing')
       AND r.destination = 'channel' AND r.payment_method_id = :id
     LIMIT 1`,
    { id },
    t,
  );
  if (open.length > 0) fail('payment_method_account_in_use', { field: 'config' });
}

/**
 * The configuration with its secrets, for the channel only. It waits for a change under way, which may not have seen
 * what was committed just before: an account that is read after a follow-up or refund was stored stays until that ends.
 *
 * @throws payment_method_not_found, payment_secret_unreadable
 */
export async function configOfMethod(id: number): Promise<MethodConfig> {
  const method = await settings.first('WHERE m.id = :id LOCK IN SHARE MODE', { id });
  return openedConfig(method ?? fail('payment_method_not_found')) ?? fail('payment_secret_unreadable');
}

/** Type and configuration, which is undefined when its secrets do not open. @throws payment_method_not_found */
export async function openedMethod(id: number): Promise<{ type: string; config: MethodConfig | undefined }> {
  const method = (await PaymentMethod.unscoped().findByPk(id)) ?? fail('payment_method_not_found');
  return { type: method.type, config: openedConfig(method) };
}

/** The configurations of all methods of that type, with their secrets: active ones first, then the newest. */
export async function configsOfType(type: string): Promise<MethodConfig[]> {
  const rows = await settings.rows('WHERE m.type = :type ORDER BY m.is_active DESC, m.id DESC', { type });
  return rows.map(openedConfig).filter((config) => config !== undefined);
}

/**
 * Seals under the present APP_KEY the secrets that are still sealed under one it replaces. Those that no configured key
 * opens stay as they are.
 */
export async function resealSecrets(): Promise<void> {
  const old = (await settings.rows('')).filter(({ secrets }) => !areSealedToday(secrets));
  for (const { id } of old) {
    await transact((t) => reseal(id, t)).then(
      () => logger.info({ payment_method_id: id }, 'secrets are sealed under the new APP_KEY'),
      (error: unknown) => logger.error({ error, payment_method_id: id }, 'secrets could not be sealed again'),
    );
  }
}

/** Deletes a method that no payment uses. */
export async function deleteMethod(id: number): Promise<void> {
  await transact(async (t) => {
    const method = await PaymentMethod.findByPk(id, { transaction: t, lock: true });
    if (!method) fail('payment_method_not_found');
    const [used] = await select('SELECT id FROM payments WHERE payment_method_id = ? LIMIT 1', [id], t);
    if (used) fail('payment_method_in_use');
    await method.destroy({ transaction: t });
  });
}

async function reseal(id: number, t: Transaction): Promise<void> {
  const method = await settings.first('WHERE m.id = :id FOR UPDATE', { id }, { t });
  // `updated_at` stays: no administrator has changed the method.
  const secrets = sealedAnew(method?.secrets ?? '{}');
  await updateRows(PaymentMethod, { secrets }, { id }, t);
}

function toRecord({ config, secret_names, ...row }: RowOf<typeof shown>): MethodRecord {
  const whole = shownConfig(config, secret_names);
  return { ...row, config: whole, has_shared_secret: 'shared_secret' in whole };
}
