// Whether the service answers, as the last call found it.
import { transport, type Failure } from './api.ts';
import { reconnectNow } from './live.ts';
import { createStore } from './store.ts';

const outage = createStore<Failure | undefined>(undefined);

transport.onAnswer = (failure) => {
  const wasAway = outage.get() !== undefined;
  outage.set(failure);
  if (wasAway && !failure) reconnectNow();
};

export const useOutage = outage.use;
