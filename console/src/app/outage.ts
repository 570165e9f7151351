// Whether the service does not answer.
import { transport, type Failure } from '../contract/api.ts';
import { reconnectNow } from '../contract/live.ts';
import { createStore } from '../contract/store.ts';

const outage = createStore<Failure | undefined>(undefined);

transport.onAnswer = (failure) => {
  const wasAway = outage.get() !== undefined;
  outage.set(failure);
  if (wasAway && !failure) reconnectNow();
};

export const useOutage = outage.use;
