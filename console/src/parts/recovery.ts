// What failed for a while is asked again until it answers: nobody has to press a button when the service is back.
import { Failure } from '../contract/api.ts';

const everyMs = 5000;

/** When a query that failed is asked again, in milliseconds; false: not by itself. */
export const recoveryMs = ({ state }: { state: { error: unknown } }): number | false =>
  state.error instanceof Failure && state.error.isPassing
    ? (state.error.details.retryAfter ?? 0) * 1000 || everyMs
    : false;
