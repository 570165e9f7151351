// Failed queries are repeated until the service answers again.
import { Failure } from '../../contract/api.ts';

const everyMs = 5000;

/** When to repeat a failed query, in milliseconds; false for never. */
export const recoveryMs = ({ state }: { state: { error: unknown } }): number | false =>
  state.error instanceof Failure && state.error.isPassing
    ? (state.error.details.retryAfter ?? 0) * 1000 || everyMs
    : false;
