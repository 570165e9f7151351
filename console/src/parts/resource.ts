// The declaration of a resource's screen, checked against the contract: a field renamed in the API breaks the build.
import type { ComponentType } from 'react';
import type { Body, Data, Query, Route, Row } from '../contract/api.ts';
import type { Both } from '../contract/texts.ts';
import type { Cell } from './show/cells.tsx';
import type { Profile } from './show/profile.ts';
import type { Field } from './form/fields.tsx';

/** Routes that return a list. */
export type ListRoute = { [R in Route]: Row<R> extends never ? never : R }[Route] & `GET ${string}`;

/** Routes that write a list into a file. */
export type ExportRoute = Extract<Route, `POST ${string}/export`>;

/** Labels with one meaning everywhere. */
export const commonLabels = {
  id: ['编号', 'ID'],
  name: ['名称', 'Name'],
  code: ['编码', 'Code'],
  slug: ['标识', 'Slug'],
  status: ['状态', 'Status'],
  sort: ['排序', 'Position'],
  remark: ['备注', 'Note'],
  description: ['说明', 'Description'],
  created_at: ['创建时间', 'Created'],
  updated_at: ['更新时间', 'Updated'],
  username: ['用户名', 'Username'],
  nickname: ['昵称', 'Display name'],
  email: ['邮箱', 'Email'],
  phone: ['电话', 'Phone'],
  password: ['密码', 'Password'],
  ip: ['IP 地址', 'IP address'],
  type: ['类型', 'Type'],
  user: ['用户', 'User'],
  user_id: ['用户', 'User'],
  admin: ['管理员', 'Administrator'],
  admin_id: ['管理员', 'Administrator'],
  amount: ['金额', 'Amount'],
  order_no: ['订单号', 'Order'],
  payment_no: ['支付单号', 'Payment'],
  trace_id: ['追踪号', 'Trace'],
  size: ['大小', 'Size'],
  filename: ['文件名', 'File name'],
  title: ['标题', 'Title'],
  keyword: ['备注包含', 'Note contains'],
  min_amount: ['最低金额', 'Min. amount'],
  max_amount: ['最高金额', 'Max. amount'],
  time_field: ['时间按', 'Date of'],
  payment_method: ['支付方式', 'Method'],
  payment_method_id: ['支付方式', 'Method'],
  third_party_no: ['第三方单号', 'Third-party number'],
  pending_longer_than: ['待支付超过（分钟）', 'Pending for over (min)'],
  needs_attention: ['需要处理', 'Needs attention'],
  assignee: ['处理人', 'Assignee'],
  assignee_id: ['处理人', 'Assignee'],
  refund_no: ['退款单号', 'Refund'],
  destination: ['退款去向', 'Refund to'],
  source: ['来源', 'Source'],
  operator: ['操作人', 'By'],
  operator_id: ['操作人', 'By'],
  department: ['部门', 'Department'],
  department_id: ['部门', 'Department'],
  role_id: ['角色', 'Role'],
  browser: ['浏览器', 'Browser'],
  os: ['系统', 'System'],
  error_msg: ['原因', 'Reason'],
  finished_at: ['完成时间', 'Finished'],
  last_login_at: ['最近登录', 'Last sign-in'],
  method: ['方法', 'Method'],
  module: ['模块', 'Module'],
  path: ['路径', 'Path'],
  progress: ['进度', 'Progress'],
} as const satisfies Record<string, Both>;

type Common = keyof typeof commonLabels;

type FieldsOf<B> = { readonly [K in keyof B & string]?: Field };

/** Asked once before the values of a form are sent. */
export interface Question {
  title: string;
  /** On the button: what is done. */
  button: string;
  danger?: boolean;
}

/** Actions on a row or on the whole list. */
export type Action<T> = { [R in Route]: ActionOn<R, T> }[Route];

interface ActionOn<R extends Route, T> {
  route: R;
  text: Both;
  danger?: boolean;
  /** Confirmation before it is done. */
  sure?: Both;
  /** What the confirmation says of the row beside its name, and the form in its title. */
  about?: (row: T) => string;
  /** Rows it applies to. */
  when?: (row: T, profile: Profile) => boolean;
  body?: Partial<Body<R>> | ((row: T, profile: Profile) => Partial<Body<R>>);
  /** The field that it overwrites: refused when somebody else has changed that since it was shown. */
  overwrites?: keyof T & string;
  /** Input asked for first, in a drawer. */
  form?: FieldsOf<Body<R>>;
  /** Asked about what was filled in, before it is sent. */
  ask?: (row: T, input: Body<R>) => Question;
  labels?: Readonly<Record<string, Both>>;
  /** Also for several selected rows at once, each by a call of its own. */
  many?: boolean;
}

export interface Spec<
  L extends ListRoute,
  C extends keyof Row<L> & string,
  F extends keyof Query<L> & string,
  M extends keyof Row<L> & string,
> {
  /** URL segment of the API and slug of its menu. */
  name: string;
  title: Both;
  /** One of them, as in "New order"; by default the title. */
  one?: Both;
  /** What an empty list is for and how to begin. */
  empty?: Both;
  /** The field that identifies a row in URLs and routes. */
  id?: keyof Row<L> & string;
  /** The field that names it for people. */
  label?: keyof Row<L> & string;
  labels: Readonly<Record<Exclude<C | F | M, Common | TimeFilter>, Both>> & Readonly<Record<string, Both>>;
  columns: { readonly [K in C]: Cell<Row<L>[K]> };
  /** Columns hidden by default, so that the list fits a desktop. */
  folded?: readonly NoInfer<C>[];
  /** Shown in the detail, not in the list. */
  more?: { readonly [K in M]: Cell<Row<L>[K]> };
  filters: { readonly [K in F]: Field };
  /** Filters shown on demand, or while they are set. */
  rare?: readonly NoInfer<F>[];
  /** The route of the list answers the sum of amounts when it is asked with `with_sum`. */
  hasSum?: boolean;
  /** Offers a date range over start_time and end_time. */
  dateRange?: boolean;
  sortable?: readonly (keyof Row<L> & string)[];
  /** Scopes whose changes refetch the list. */
  stale?: readonly string[];
  /** Whether work on the row is under way: refetched each second. */
  isMoving?: (row: Row<L>) => boolean;
  show?: Route;
  create?: FormSpec;
  update?: FormSpec;
  remove?: Route;
  /** Rows it applies to; by default all. */
  removable?: (row: Row<L>, profile: Profile) => boolean;
  /** Takes the {ids} of selected rows. */
  removeMany?: Route;
  exportTo?: ExportRoute;
  actions?: readonly Action<Row<L>>[];
  /** Beside the buttons of the list. */
  extra?: ComponentType;
  /** Above the table. */
  above?: ComponentType<{ data: Data<L> | undefined }>;
  /** An alternative view to the table. */
  tiles?: ComponentType<{ rows: Row<L>[] }>;
  /** A page instead of the drawer. */
  detail?: ComponentType<{ id: string; resource: Resource }>;
  /** Further routes below the list. */
  pages?: Readonly<Record<string, ComponentType>>;
  /** Above the fields in the drawer. */
  lead?: ComponentType<{ row: Row<L> }>;
  /** At the end of the drawer. */
  below?: ComponentType<{ row: Row<L> }>;
}

type TimeFilter = 'start_time' | 'end_time';

export type FormSpec = {
  [R in Route]: { route: R; fields: FieldsOf<Body<R>>; wide?: boolean; submit?: Both };
}[Route];

/** A resource as the parts see it: of any route. */
export interface Resource {
  list: Route;
  spec: Spec<ListRoute, never, never, never> & {
    labels: Readonly<Record<string, Both>>;
    columns: Readonly<Record<string, Cell>>;
    more?: Readonly<Record<string, Cell>>;
    filters: Readonly<Record<string, Field>>;
    folded?: readonly string[];
    rare?: readonly string[];
  };
}

export type AnyRow = Record<string, unknown>;

/** Declares the screen of a list. */
export function resource<
  L extends ListRoute,
  const C extends keyof Row<L> & string,
  const F extends keyof Query<L> & string,
  const M extends keyof Row<L> & string = never,
>(list: L, spec: Spec<L, C, F, M>): Resource {
  return { list, spec: spec as unknown as Resource['spec'] };
}

/** The column that names a row and links to it. */
export const labelColumn = ({ spec }: Resource): string => spec.label ?? Object.keys(spec.columns)[0] ?? 'id';

/** Hidden columns: as chosen, or as declared. */
export const foldedIn = (
  { spec }: Resource,
  { hidden }: { hidden: Readonly<Record<string, readonly string[]>> },
): readonly string[] => hidden[spec.name] ?? spec.folded ?? [];

export const idOf = ({ spec }: Resource, row: AnyRow): string => String(row[spec.id ?? 'id']);

/** What people call it. */
export const nameOf = ({ spec }: Resource, row: AnyRow): string => String(row[spec.label ?? 'id']);

export const labelOf = ({ spec }: Resource, name: string): Both =>
  spec.labels[name] ?? (commonLabels as Readonly<Record<string, Both>>)[name] ?? [name, name];
