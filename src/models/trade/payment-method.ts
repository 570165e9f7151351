// payment_methods: how customers may pay. Secrets are stored encrypted and never answered.
import type { Transaction } from 'sequelize';
import { Column, DataType, Model, Scopes, Table } from 'sequelize-typescript';
import type { MethodConfig } from '../../lib/channels/channel.js';
import { change, db, refuseDuplicates, select, transact } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import { logger } from '../../lib/logger.js';
import { pageSql, toPage, Where, type ListQuery, type Page } from '../../lib/list-query.js';
import { randomToken } from '../../lib/random-id.js';
import {
  areSealedToday,
  changedSettings,
  newSettings,
  sealedAnew,
  shownConfig,
  wholeConfig,
} from './method-settings.js';

export interface MethodFields {
  name?: string;
  code?: string;
  type: string;
  config?: MethodConfig;
  is_active?: boolean;
  sort?: number;
  description?: string | null;
}

export interface MethodFilter extends ListQuery {
  name?: string;
  code?: string;
  type?: string;
  is_active?: boolean;
}

export const methodSortable = [
  'id',
  'name',
  'code',
  'type',
  'is_active',
  'sort',
  'created_at',
  'updated_at',
] as const;

export interface MethodRecord {
  id: number;
  name: string;
  code: string;
  type: string;
  /** Every set key; a secret one shows `***`. */
  config: MethodConfig;
  has_shared_secret: boolean;
  is_active: boolean;
  sort: number;
  description: string | null;
  created_at: Date;
  updated_at: Date;
}

const duplicates = {
  uq_payment_methods_code: { slug: 'payment_method_code_exists', field: 'code' },
} as const;
const recordSql = 'SELECT m.* FROM payment_methods m';

@Scopes(() => ({ withSecrets: { attributes: { include: ['secrets'] } } }))
@Table({ tableName: 'payment_methods', defaultScope: { attributes: { exclude: ['secrets'] } } })
export class PaymentMethod extends Model {
  @Column({ type: DataType.BIGINT, primaryKey: true, autoIncrement: true }) declare id: number;
  @Column(DataType.STRING(50)) declare name: string;
  @Column(DataType.STRING(50)) declare code: string;
  @Column(DataType.STRING(20)) declare type: string;
  @Column(DataType.TEXT) declare config: string;
  @Column(DataType.TEXT) declare secrets: string;
  @Column(DataType.TINYINT) declare is_active: number;
  @Column(DataType.INTEGER) declare sort: number;
  @Column(DataType.STRING(255)) declare description: string | null;
  @Column(DataType.DATE(3)) declare created_at: Date;
  @Column(DataType.DATE(3)) declare updated_at: Date;

  static async list(query: MethodFilter): Promise<Page<MethodRecord>> {
    const where = new Where()
      .contains('m.name', query.name)
      .contains('m.code', query.code)
      .equalsAscii('m.type', query.type)
      .equals('m.is_active', query.is_active)
      .during('m.created_at', query);
    const [rows, [count]] = await Promise.all([
      select<MethodRow>(`${recordSql} ${where.sql} ${pageSql(query, 'm')}`, where.values),
      select<{ total: number }>(`SELECT COUNT(*) AS total FROM payment_methods m ${where.sql}`, where.values),
    ]);
    return toPage(query, rows.map(toRecord), count?.total ?? 0);
  }

  /** @throws payment_method_not_found */
  static async record(id: number): Promise<MethodRecord> {
    const [row] = await select<MethodRow>(`${recordSql} WHERE m.id = ?`, [id]);
    return row ? toRecord(row) : fail('payment_method_not_found');
  }

  /** Active methods for select boxes. */
  static choices(): Promise<{ value: number; label: string }[]> {
    return select(
      'SELECT id AS value, name AS label FROM payment_methods WHERE is_active = 1 ORDER BY sort, id',
    );
  }

  /** @throws what `newSettings` throws, payment_method_code_exists */
  static async register({ config = {}, ...fields }: MethodFields): Promise<number> {
    const { name = fields.type, code = `${fields.type}_${randomToken(6)}`, is_active = true } = fields;
    const columns = {
      sort: 0,
      ...fields,
      name,
      code,
      is_active: is_active ? 1 : 0,
      ...newSettings(fields.type, config),
    };
    return refuseDuplicates(
      transact(async (t) => (await PaymentMethod.create(columns, { transaction: t })).id),
      duplicates,
    );
  }

  /**
   * Changes only the fields and configuration keys given; an empty text removes a key. The type is fixed.
   *
   * @throws payment_method_not_found and what `register` throws
   */
  static async revise(id: number, { config, ...fields }: Partial<Omit<MethodFields, 'type'>>): Promise<void> {
    await refuseDuplicates(
      transact(async (t) => {
        const method = await PaymentMethod.scope('withSecrets').findByPk(id, { transaction: t, lock: true });
        if (!method) fail('payment_method_not_found');
        const settings = config ? changedSettings(method.type, method, config) : {};
        await method.update({ ...fields, ...settings }, { transaction: t });
      }),
      duplicates,
    );
  }

  /** The configuration with its secrets, for the channel's eyes only. @throws payment_method_not_found */
  static async configOf(id: number): Promise<MethodConfig> {
    const method = await PaymentMethod.scope('withSecrets').findByPk(id);
    return wholeConfig(method ?? fail('payment_method_not_found'));
  }

  /** The configurations of the methods of that type, with their secrets; of very many the oldest. */
  static async configsOf(type: string): Promise<MethodConfig[]> {
    const rows = await select<{ config: string; secrets: string }>(
      'SELECT config, secrets FROM payment_methods WHERE type = ? ORDER BY id LIMIT 20',
      [type],
    );
    return rows.map(wholeConfig);
  }

  /**
   * Seals under today's APP_KEY what is still sealed under one that it replaces. Secrets that no given key opens stay
   * as they are.
   */
  static async resealSecrets(): Promise<void> {
    const methods = await select<{ id: number; secrets: string }>(`SELECT id, secrets FROM payment_methods`);
    const old = methods.filter(({ secrets }) => !areSealedToday(secrets));
    for (const { id } of old) {
      await transact((t) => reseal(id, t)).then(
        () => logger.info({ payment_method_id: id }, 'secrets are sealed under the new APP_KEY'),
        (error: unknown) =>
          logger.error({ error, payment_method_id: id }, 'secrets could not be sealed anew'),
      );
    }
  }

  /** Deletes a method that no payment uses. */
  static async remove(id: number): Promise<void> {
    await transact(async (t) => {
      const method = await PaymentMethod.findByPk(id, { transaction: t, lock: true });
      if (!method) fail('payment_method_not_found');
      const [used] = await select('SELECT id FROM payments WHERE payment_method_id = ? LIMIT 1', [id], t);
      if (used) fail('payment_method_in_use');
      await method.destroy({ transaction: t });
    });
  }
}

db.addModels([PaymentMethod]);

async function reseal(id: number, t: Transaction): Promise<void> {
  const [row] = await select<{ secrets: string }>(
    'SELECT secrets FROM payment_methods WHERE id = ? FOR UPDATE',
    [id],
    t,
  );
  const anew = sealedAnew(row?.secrets ?? '{}');
  await change('UPDATE payment_methods SET secrets = ? WHERE id = ?', [anew, id], t);
}

interface MethodRow extends Omit<MethodRecord, 'config' | 'has_shared_secret' | 'is_active'> {
  config: string;
  secrets: string;
  is_active: number;
}

function toRecord({ secrets, ...row }: MethodRow): MethodRecord {
  const config = shownConfig({ config: row.config, secrets });
  return { ...row, config, has_shared_secret: 'shared_secret' in config, is_active: row.is_active === 1 };
}
