// State shared by the layers of one request, on ctx.state.
import type { Identity } from '../../models/access/identity.js';
import type { OperationEntry } from '../../models/logs/operation-log.js';
import type { Route } from '../declare/route.js';

export interface RequestState {
  traceId: string;
  /** Canonical address of the client. */
  ip: string;
  route?: Route;
  identity?: Identity;
  /** Query and body as they came, for the operation log. */
  input?: { query: unknown; body: unknown };
  /** Fields that an update or delete changed. */
  changes?: Change[];
  /** Its entry in the operation log, once it was begun. */
  entry?: OperationEntry;
  /** What the handler returned; absent on raw answers. */
  data?: unknown;
}

export interface Change {
  field: string;
  old: unknown;
  new: unknown;
}
