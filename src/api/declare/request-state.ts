// State shared by the layers of one request, on ctx.state.
import type { ParameterizedContext } from 'koa';
import type { Identity } from '../../models/access/identity.js';
import type { OperationEntry } from '../../models/logs/operation-log.js';
import type { FieldChange } from '../../models/logs/tables.js';
import type { Route } from './route.js';

export interface RequestState {
  traceId: string;
  /** Canonical address of the client. */
  ip: string;
  route?: Route;
  identity?: Identity;
  /** Raw query and body, for the operation log. */
  input?: { query: unknown; body: unknown };
  /** What the route takes of them, once checked. */
  taken?: { query: unknown; body: unknown };
  /** The record before an update or delete. */
  before?: object;
  /** The same record after it; without fields when it was deleted. */
  after?: object;
  /** Fields changed by an update or delete. */
  changes?: FieldChange[];
  /** Its entry in the operation log, once started. */
  entry?: OperationEntry;
  /** Result of the handler; absent on raw answers. */
  data?: unknown;
}

export type Context = ParameterizedContext<RequestState>;
