// Every connection of this process leaves Redis Cluster nodes that have gone silent.
//
// A connection that waits for a job cannot be pinged, because pings would queue behind the wait. So all connections
// share which nodes have replied.
import type { Cluster, Redis } from 'ioredis';

/** Interval of pings to every node. */
const pingEveryMs = 1000;
/** A node with a ping unanswered this long is left. */
const silenceMs = 3000;
/** After this time it is tried again. */
const forgetMs = 6000;

type Kind = 'pinged' | 'waiting';

const clusters = new Map<Cluster, Kind>();
/** Since when each node owes a reply. */
const unansweredSince = new Map<string, number>();
let pings: NodeJS.Timeout | undefined;
let lastRoundAt = 0;

/** Watches the nodes of a cluster, and of its duplicates, until it is closed. */
export function follow(cluster: Cluster, kind: Kind = 'pinged'): void {
  clusters.set(cluster, kind);
  pings ??= setInterval(round, pingEveryMs).unref();
  const duplicate = cluster.duplicate.bind(cluster);
  cluster.duplicate = (...args) => {
    const copy = duplicate(...args);
    // BullMQ duplicates it to wait for jobs.
    follow(copy, 'waiting');
    return copy;
  };
}

/** Stops watching. */
export function leave(cluster: Cluster): void {
  clusters.delete(cluster);
  if (clusters.size > 0) return;
  clearInterval(pings);
  pings = undefined;
  unansweredSince.clear();
}

function round(): void {
  const now = performance.now();
  // A process that was stopped has heard no node and learns nothing from that.
  if (now - lastRoundAt > 2 * pingEveryMs) unansweredSince.clear();
  lastRoundAt = now;
  for (const [name, since] of unansweredSince) if (now - since > forgetMs) unansweredSince.delete(name);
  for (const [cluster, kind] of clusters) {
    if (cluster.status === 'end') {
      clusters.delete(cluster);
      continue;
    }
    const silent = cluster.nodes().filter((node) => isSilent(node, now));
    for (const node of silent) cut(node);
    if (silent.length > 0) cluster.refreshSlotsCache();
    if (kind === 'pinged') for (const node of cluster.nodes()) ping(node, now);
  }
}

const nameOf = ({ options: { host, port } }: Redis): string => `${host}:${port}`;

const isSilent = (node: Redis, now: number): boolean =>
  now - (unansweredSince.get(nameOf(node)) ?? now) > silenceMs;

function ping(node: Redis, now: number): void {
  // A connection that is being opened owes a reply as well.
  if (!['connect', 'connecting', 'ready'].includes(node.status)) return;
  const name = nameOf(node);
  if (!unansweredSince.has(name)) unansweredSince.set(name, now);
  node.ping().then(
    () => unansweredSince.delete(name),
    () => undefined,
  );
}

// Not disconnect(), which would wait for the peer to close. Pending commands go to the node's successor.
function cut(node: Redis): void {
  (node as unknown as { stream?: { destroy(): void } }).stream?.destroy();
}
