// The service of a test file: started before its tests, stopped after them together with the processes they have started.
import test from 'ava';
import { killProcesses } from './processes.js';
import { startService, type Service } from './service.js';

/** Declares the service of this file; it can be used from the first hook on. @param options as `startService` */
export function serviceTest(options?: Parameters<typeof startService>[0]): Omit<Service, 'stop'> {
  let started: Service | undefined;
  const running = (): Service => {
    if (!started) throw new Error('the service starts with the first hook');
    return started;
  };
  // Serial: the other hooks wait for it.
  test.serial.before(async () => {
    started = await startService(options);
  });
  test.after.always(async () => {
    await killProcesses();
    await started?.stop();
  });
  return {
    get url() {
      return running().url;
    },
    get anonymous() {
      return running().anonymous;
    },
    get admin() {
      return running().admin;
    },
  };
}
