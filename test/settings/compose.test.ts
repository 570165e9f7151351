// docker-compose.yml: what YAML would read otherwise than it looks, and that the profile of many machines is of one piece.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { projectRoot } from '../../config/environment.js';

interface App {
  script: string;
  args?: string;
}

const text = readFileSync(resolve(projectRoot, 'docker-compose.yml'), 'utf8');

/** The part of a service, up to the next one. */
const serviceNamed = (name: string): string =>
  new RegExp(`^ {2}${name}:\\n((?: {3,}.*\\n|\\n)+)`, 'm').exec(
    text.slice(text.indexOf('\nservices:')),
  )?.[1] ?? '';

test('list items are never parsed as mappings', (t) => {
  const items = [...text.matchAll(/^ *- (.*)$/gm)].map(([, item]) => item as string);
  t.true(items.length > 30);
  t.deepEqual(
    items.filter((item) => !/^['"[]/.test(item) && !/^\w+: /.test(item) && item.includes(': ')),
    [],
  );
});

test('the profile of many machines has two of each process', (t) => {
  const many = ['api-2', 'worker-quick-2', 'worker-bulk-2', 'haproxy', 's3', 's3-bucket'];
  for (const name of many) t.regex(serviceNamed(name), /profiles: \[many\]/, name);
  for (const name of ['redis-2', 'redis-3']) t.regex(serviceNamed(name), /<<: \*replica/, name);
  for (const name of ['sentinel-1', 'sentinel-2', 'sentinel-3'])
    t.regex(serviceNamed(name), /<<: \*sentinel/, name);
  for (const name of ['api', 'worker-quick', 'worker-bulk', 'database', 'redis'])
    t.notRegex(serviceNamed(name), /profiles:/, name);
});

test('the processes are those of PM2', async (t) => {
  const file = pathToFileURL(resolve(projectRoot, 'ecosystem.config.js')).href;
  const { apps } = (await import(file)) as { apps: App[] };
  const ofPm2 = apps.map(({ script, args }) => [script, args].filter(Boolean).join(' '));
  const commands = [...text.matchAll(/command:\s*\[\s*node,([^\]]+)\]/g)].map(([, words = '']) =>
    words
      .replaceAll("'", '')
      .replace(/,?\s+$/, '')
      .trim()
      .split(/,\s+/)
      .join(' '),
  );
  const dockerfile = readFileSync(resolve(projectRoot, 'Dockerfile'), 'utf8');
  const [, words = '[]'] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? [];
  const [, ...ofApi] = JSON.parse(words) as string[];
  t.deepEqual([ofApi.join(' '), ...commands.slice(0, 2)], ofPm2);
  t.deepEqual(commands.slice(2), commands.slice(0, 2));
});
