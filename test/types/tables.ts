// Wrong programs about tables and answers: the compiler must refuse each, or it complains that nothing is wrong.
import { text } from '../../src/models/tables/column.js';
import { matching } from '../../src/models/tables/find.js';
import { columnsOf, joined, selection } from '../../src/models/tables/selection.js';
import { insertRow, updateRows } from '../../src/models/tables/rows.js';
import { Column, Table, type Listed, type NewRow, type Row } from '../../src/models/tables/table.js';
import { Admin, Department, Role } from '../../src/models/access/tables.js';
import { Order, PaymentMethod, User } from '../../src/models/trade/tables.js';
import { integer, keysOf, record } from '../../src/api/declare/response.js';
import { route } from '../../src/api/declare/route.js';
import { Model } from 'sequelize-typescript';

/** A field must be of the type that its column holds. */
@Table('wrong')
export class Wrong extends Model<Row<Wrong>, NewRow<Wrong>> {
  // @ts-expect-error a text is no number
  @Column(text(10)) declare count: number;
  // @ts-expect-error it may be null
  @Column(text(10).nullable()) declare name: string;
  // @ts-expect-error the class must say as well that it is unlisted
  @Column(text(10).secret()) declare password: string;
}

const orders = selection(columnsOf(Order, 'o'), 'orders o');
const joinedOrders = selection(
  { ...columnsOf(Order, 'o'), user: joined(columnsOf(User, 'u')) },
  'orders o',
  'LEFT JOIN users u ON u.id = o.user_id',
);

export async function wrongWrites(role: Role): Promise<void> {
  // @ts-expect-error columns that there are not
  await Admin.create({ usernam: 'x', pasword_hash: 5 });
  // @ts-expect-error a column that there is not
  await role.update({ nmae: 7 });
  // @ts-expect-error a condition on a column that there is not
  await Role.findOne({ where: { nonsense: 1 } });
  // @ts-expect-error a value of another type
  await insertRow(Department, { name: 5 });
  // @ts-expect-error an order needs more
  await insertRow(Order, { order_no: 'x' });
  // @ts-expect-error a column that there is not
  await updateRows(Order, { remrak: 'x' }, { id: 1 });
  // @ts-expect-error a condition of another type
  await updateRows(Order, { remark: 'x' }, { id: 'x' });
  // @ts-expect-error a filter on a column that there is not
  matching<Role>({ nonsense: 1 });
}

export async function wrongReads(): Promise<void> {
  // @ts-expect-error a column that there is not
  columnsOf(Order, 'o', 'ghost');
  const [order] = await orders.rows('WHERE o.id = 1');
  // @ts-expect-error an amount is no text
  const amount: string | undefined = order?.amount;
  const [both] = await Promise.all([joinedOrders.first('WHERE o.id = :id', { id: 1 })]);
  // @ts-expect-error the user may be missing
  const name: string | undefined = both?.user.username;
  // @ts-expect-error what is unlisted must be named
  const secrets = columnsOf(PaymentMethod, 'm').secrets;
  void [amount, secrets, name];
}

export const wrongAnswers = [
  route('GET', '/wrong', {
    name: 'wrong',
    summary: 'Answers something else than it says',
    access: 'public',
    response: record({ id: integer(), ghost: integer() }),
    // @ts-expect-error a field of the answer is missing
    handle: () => Promise.resolve({ id: 1 }),
  }),
  route('GET', '/wrong-department', {
    name: 'wrongDepartment',
    summary: 'Answers a role as a department',
    access: 'public',
    response: record(keysOf(Department)),
    // @ts-expect-error a role is no department
    handle: (): Promise<Listed<Role>> => Promise.reject(new Error()),
  }),
  route('GET', '/wrong-nothing', {
    name: 'wrongNothing',
    summary: 'Answers something although it declares no answer',
    access: 'public',
    // @ts-expect-error nothing is answered
    handle: () => Promise.resolve({ id: 1 }),
  }),
];
