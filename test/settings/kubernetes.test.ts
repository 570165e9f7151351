// The manifests of deploy/kubernetes: valid by the schemas of Kubernetes, and they run what PM2 runs, with settings that can be used.
import '../support/environment.js';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Service } from 'kubernetes-models/v1/Service';
import { parseAllDocuments } from 'yaml';
import { config } from '../../config/index.js';
import { queueNames } from '../../src/lib/queue/names.js';

const file = readFileSync(join(config.root, 'deploy/kubernetes/back-office.yaml'), 'utf8');
const documents = parseAllDocuments(file, { merge: true });
const manifests = documents.map(
  (document) => document.toJS() as { kind: string; metadata: { name: string } },
);
const schemas = { ConfigMap, Deployment, Ingress, PodDisruptionBudget, Service };

const ofKind = <T>(kind: string): T[] => manifests.filter((one) => one.kind === kind) as T[];

interface Pods {
  metadata: { name: string };
  spec: {
    selector: { matchLabels: Record<string, string> };
    template: {
      metadata: { labels: Record<string, string> };
      spec: { terminationGracePeriodSeconds: number; containers: { args: string[]; image: string }[] };
    };
  };
}

const deployments = ofKind<Pods>('Deployment');
const argsOf = ({ spec }: Pods): string[] => spec.template.spec.containers.flatMap(({ args }) => args);

test('every manifest is valid', (t) => {
  for (const document of documents) t.deepEqual(document.errors, []);
  t.deepEqual([...new Set(manifests.map(({ kind }) => kind))].sort(), Object.keys(schemas).sort());
  for (const manifest of manifests) {
    const Schema = schemas[manifest.kind as keyof typeof schemas];
    t.notThrows(() => new Schema(manifest).validate(), `${manifest.kind} ${manifest.metadata.name}`);
  }
});

test('a manifest with a field of another type, or without one that must be there, is not', (t) => {
  const [api] = deployments;
  const isRefused = (changes: object): void => {
    t.throws(() => {
      new Deployment({ ...structuredClone(api), ...changes } as never).validate();
    });
  };
  isRefused({ spec: { ...api?.spec, replicas: 'two' } });
  isRefused({ spec: { ...api?.spec, selector: undefined } });
});

test('what selects pods is what they are labelled with', (t) => {
  for (const { spec } of deployments) t.deepEqual(spec.selector.matchLabels, spec.template.metadata.labels);
  const labels = deployments.map(({ spec }) => JSON.stringify(spec.template.metadata.labels));
  t.is(new Set(labels).size, deployments.length);
  const [service] = ofKind<{ spec: { selector: object } }>('Service');
  const [budget] = ofKind<{ spec: { selector: { matchLabels: object } } }>('PodDisruptionBudget');
  t.deepEqual(service?.spec.selector, deployments[0]?.spec.selector.matchLabels);
  t.deepEqual(budget?.spec.selector.matchLabels, deployments[0]?.spec.selector.matchLabels);
});

test('the processes are those of PM2', async (t) => {
  const { apps } = (await import(join(config.root, 'ecosystem.config.js'))) as {
    apps: { name: string; script: string; args?: string }[];
  };
  const commands = apps.map(({ name, script, args = '' }) => ({
    name: `back-office-${name}`,
    command: `node ${script} ${args}`.trim(),
  }));
  const found = deployments.map((pods) => ({
    name: pods.metadata.name,
    command: argsOf(pods).join(' '),
  }));
  t.deepEqual(found, commands);
});

test('every queue is consumed by one deployment', (t) => {
  const consumed = deployments.flatMap((pods) => {
    const args = argsOf(pods);
    return args.includes('--queues') ? (args.at(-1) ?? '').split(',') : [];
  });
  t.deepEqual(consumed.sort(), [...queueNames].sort());
});

test('pods are given longer to end than a process takes', (t) => {
  for (const { spec } of deployments)
    t.true(spec.template.spec.terminationGracePeriodSeconds * 1000 > config.app.shutdownMs + 5000);
});

test('the service starts with these settings and the secrets that the file names', async (t) => {
  const [map] = ofKind<{ data: Record<string, string> }>('ConfigMap');
  const names = [...file.matchAll(/--from-literal=(\w+)=…/g)].map(([, name = '']) => name);
  const secrets = names.map((name, index) => [
    name,
    `6f1c0a9b27d84e35${index}f0a9d8c7b6e5f4a3b2c1d0e${index}`,
  ]);
  const image = readFileSync(join(config.root, 'Dockerfile'), 'utf8');
  const fixed = [...image.matchAll(/^ENV (.*)$/gm)].flatMap(([, pairs = '']) => pairs.split(' '));
  const env = {
    PATH: process.env.PATH,
    ...Object.fromEntries(fixed.map((pair) => pair.split('='))),
    ...map?.data,
    ...Object.fromEntries(secrets),
  };
  const settings = `import(${JSON.stringify(join(config.root, 'build/config/index.js'))}).then(({ config }) => console.log(config.storage.driver))`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', settings], { env });
  t.is(stdout.trim(), 's3');
});
