// Loaded into a process by --profile: takes a CPU profile of it between the messages `profile` and `profiled`.
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

const samplingMicroseconds = 250;
const session = new Session();
session.connect();

process.on('message', (message: { profile?: 'start' | 'stop'; file?: string }) => {
  if (message.profile === 'start') void start();
  if (message.profile === 'stop') void stop(message.file as string);
});

async function start(): Promise<void> {
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: samplingMicroseconds });
  await session.post('Profiler.start');
  process.send?.('profiling');
}

async function stop(file: string): Promise<void> {
  const { profile } = await session.post('Profiler.stop');
  writeFileSync(file, JSON.stringify(profile));
  process.send?.('profiled');
}
