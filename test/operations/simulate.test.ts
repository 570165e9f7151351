// `npm run simulate`: a day by what requests were measured to cost.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { projectRoot } from '../../config/environment.js';

async function simulate(...args: string[]): Promise<string> {
  const program = resolve(projectRoot, 'bin/simulate.mjs');
  return (await promisify(execFile)(process.execPath, [program, ...args])).stdout;
}

/** How full something is at the peak, in per cent. */
const fullness = (output: string, name: string): number =>
  Number(new RegExp(`^${name} +(\\d+) %`, 'm').exec(output)?.[1]);

test('an overload names the resource that fills first', async (t) => {
  const small = await simulate('--orders-per-day', '100000');
  t.regex(small, /12 at the peak/);
  t.notRegex(small, /full from/);
  const large = await simulate('--orders-per-day', '10000000');
  t.regex(large, /API and worker processors .* full from \d\d:\d\d, the last one waits \d+ s/);
  t.regex(large, /full first: API and worker processors, at \d+ thousand orders a day/);
});

test('more machines raise the limit to that of shared resources', async (t) => {
  const many = ['--orders-per-day', '30000000', '--apis', '20', '--workers', '10', '--database-cores', '64'];
  t.regex(await simulate(...many), /full first: Redis processor/);
  const without = await simulate('--orders-per-day', '10000000');
  const replicated = await simulate('--orders-per-day', '10000000', '--replicas', '1');
  t.true(fullness(replicated, 'database processors') < fullness(without, 'database processors'));
  t.true(fullness(replicated, 'replica processors') > 0);
});

test('invalid numbers are refused', async (t) => {
  await t.throwsAsync(simulate('--apis', 'many'), { message: /not a number: --apis/ });
});
