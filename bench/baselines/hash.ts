// What signing in is held against in bench:http: nothing but bcrypt.compare, as many at once as one API process allows.
import bcrypt from 'bcrypt';
import { config } from '../../config/index.js';
import { percentiles, type Measured } from '../support/load.js';

const password = 'x'.repeat(44);
const hash = await bcrypt.hash(password, config.auth.bcryptCost);

process.on('message', ({ seconds }: { seconds: number }) => {
  void compareFor(seconds).then((measured) => process.send?.(measured));
});
process.send?.('ready');

async function compareFor(seconds: number): Promise<Measured> {
  const startedAt = performance.now();
  const latencies: number[] = [];
  const compare = async (): Promise<void> => {
    while (performance.now() - startedAt < seconds * 1000) {
      const at = performance.now();
      if (!(await bcrypt.compare(password, hash))) throw new Error('the password did not match');
      latencies.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: config.auth.hashConcurrency }, compare));
  const taken = (performance.now() - startedAt) / 1000;
  return {
    requests: latencies.length,
    seconds: taken,
    perSecond: latencies.length / taken,
    ...percentiles(latencies),
  };
}
