// Queries that are repeated: failed ones until the service answers again, others while something moves.
import { Failure } from '../../contract/api.ts';

const everyMs = 5000;
const movingMs = 1000;

/** When to repeat a failed query, in milliseconds; false for never. */
export const recoveryMs = ({ state }: { state: { error: unknown } }): number | false =>
  state.error instanceof Failure && state.error.isPassing
    ? (state.error.details.retryAfter ?? 0) * 1000 || everyMs
    : false;

/** When to repeat a query about work that may be under way: after a failure as any other. */
export const followMs = (query: { state: { error: unknown } }, isMoving: boolean): number | false =>
  isMoving && query.state.error === null ? movingMs : recoveryMs(query);
