// The service for sequences of commands, with restarts of its processes and loss of its Redis.
import { listen } from '../../../src/api/http/server.js';
import { consume, type RunningWorker } from '../../../src/worker/consume.js';
import type { Client } from '../client.js';
import { makeMethod } from '../factories.js';
import { portOf } from '../servers/free-port.js';
import { killProcesses, startApi, startWorkerProcess, type TestProcess } from '../processes.js';
import { emptyRedis } from '../servers/redis.js';
import { startService, type Service } from '../service.js';

export interface SystemUnderTest {
  admin: Client;
  anonymous: Client;
  methodId: number;
  restartApi(): Promise<void>;
  restartWorker(): Promise<void>;
  /** Removes everything this service has in Redis. */
  emptyRedis(): Promise<void>;
  stop(): Promise<void>;
}

/** A running service without a worker; a restart closes gracefully. */
export function inThisThread(
  { admin, anonymous }: Pick<Service, 'admin' | 'anonymous'>,
  methodId: number,
): SystemUnderTest {
  const work = (): RunningWorker[] => [consume('payments'), consume('channels')];
  let workers = work();
  const rest = () => Promise.all(workers.map((worker) => worker.close()));
  let api: Awaited<ReturnType<typeof listen>> | undefined;
  const close = (): void => {
    api?.close();
    api?.closeAllConnections();
  };
  const system: SystemUnderTest = {
    ...{ admin, anonymous, methodId, emptyRedis },
    async restartApi() {
      const fresh = await listen(0, '127.0.0.1');
      const url = `http://127.0.0.1:${portOf(fresh)}`;
      [system.admin, system.anonymous] = [admin.at(url), anonymous.at(url)];
      close();
      api = fresh;
    },
    async restartWorker() {
      await rest();
      workers = work();
    },
    async stop() {
      close();
      await rest();
    },
  };
  return system;
}

/** API and worker are processes of their own; a restart begins with SIGKILL. */
export async function inOwnProcesses(): Promise<SystemUnderTest> {
  const service = await startService({ withWorker: false });
  let [api, worker]: TestProcess[] = await Promise.all([startApi(), startWorkerProcess()]);
  const { admin, anonymous } = service;
  const system: SystemUnderTest = {
    ...{ admin: admin.at((api as TestProcess).url), anonymous: anonymous.at((api as TestProcess).url) },
    ...{ methodId: (await makeMethod(admin)).id, emptyRedis },
    async restartApi() {
      await api?.kill();
      api = await startApi();
      [system.admin, system.anonymous] = [system.admin.at(api.url), system.anonymous.at(api.url)];
    },
    async restartWorker() {
      await worker?.kill();
      worker = await startWorkerProcess();
    },
    async stop() {
      await killProcesses();
      await service.stop();
    },
  };
  return system;
}
