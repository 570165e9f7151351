// Sets of a row that other tables hold: the roles of an administrator, the rights of a role.
import type { Transaction } from 'sequelize';
import type { Model } from 'sequelize-typescript';

/** Replaces such a set. @returns whether it was another one */
export async function replaceSet<M extends Model>(
  row: M,
  name: keyof M,
  ids: number[],
  t: Transaction,
): Promise<boolean> {
  // Sequelize returns the outcome of each statement it needed.
  const written = (await row.$set(name, ids, { transaction: t })) as unknown[];
  return written.length > 0;
}

/** Dates a row whose sets have changed, as a change of its columns does. */
export async function touch(row: Model, t: Transaction): Promise<void> {
  row.changed('updated_at' as keyof Model, true);
  await row.save({ transaction: t });
}
