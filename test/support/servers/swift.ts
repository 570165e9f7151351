// OpenStack Swift with its S3 interface: one proxy, and one server each of accounts, containers and objects.
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { OwnServer, ownFolder, programPath } from './faults.js';
import { freePort } from './free-port.js';
import { s3Settings } from './s3.js';

const run = promisify(execFile);
const kinds = ['account', 'container', 'object'] as const;
const device = 'disk';

const owner = 'tester:tester';
const secret = 'testing';

/** Settings of a process of the service that lead to the Swift at that port. */
export const swiftSettings = (port: number): Record<string, string> => ({
  ...s3Settings(port),
  S3_ACCESS_KEY_ID: owner,
  S3_SECRET_ACCESS_KEY: secret,
});

/** One of the four servers. */
class Daemon extends OwnServer {
  override readonly env = {};
  readonly #program: string;
  readonly #file: string;

  constructor(port: number, program: string, file: string) {
    super(port);
    this.#program = program;
    this.#file = file;
  }

  protected override command(): [string, ...string[]] {
    return [programPath(this.#program), this.#file];
  }
}

/** All four, as one storage. */
export class OwnSwift {
  readonly #port: number;
  readonly #folder = ownFolder();
  readonly #servers: Daemon[] = [];

  constructor(port: number) {
    this.#port = port;
  }

  /** Starts them, and makes the bucket. */
  async start(): Promise<void> {
    mkdirSync(join(this.#folder, 'data', device), { recursive: true });
    writeFileSync(
      join(this.#folder, 'swift.conf'),
      '[swift-hash]\nswift_hash_path_prefix = before\nswift_hash_path_suffix = behind\n',
    );
    for (const kind of kinds) await this.#addServer(kind);
    await Promise.all(this.#servers.map((server) => server.start()));
    const file = join(this.#folder, 'proxy-server.conf');
    writeFileSync(file, this.#proxySettings());
    const proxy = new Daemon(this.#port, 'swift-proxy-server', file);
    this.#servers.push(proxy);
    await proxy.start();
    await this.#makeBucket();
  }

  async remove(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.remove()));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  // A ring says which server has which part of the data; here one has everything.
  async #addServer(kind: (typeof kinds)[number]): Promise<void> {
    const port = await freePort();
    const ring = (...args: string[]) =>
      run(programPath('swift-ring-builder'), [`${kind}.builder`, ...args], { cwd: this.#folder });
    await ring('create', '1', '1', '1');
    await ring('add', `r1z1-127.0.0.1:${port}/${device}`, '1');
    await ring('rebalance');
    const file = join(this.#folder, `${kind}-server.conf`);
    const devices = `devices = ${join(this.#folder, 'data')}\nmount_check = false`;
    writeFileSync(
      file,
      `${this.#common(port)}
${devices}
[pipeline:main]
pipeline = ${kind}-server
[app:${kind}-server]
use = egg:swift#${kind}
`,
    );
    this.#servers.push(new Daemon(port, `swift-${kind}-server`, file));
  }

  #common(port: number): string {
    return `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
user = ${process.env.USER ?? 'root'}
swift_dir = ${this.#folder}
workers = 0
log_level = WARNING`;
  }

  #proxySettings(): string {
    const filters = ['catch_errors', 'cache', 'listing_formats', 's3api', 'tempauth', 'copy', 'slo', 'dlo'];
    const options: Record<string, string> = {
      s3api: 's3_acl = no',
      tempauth: `user_${owner.replace(':', '_')} = ${secret} .admin`,
    };
    return [
      this.#common(this.#port),
      `[pipeline:main]\npipeline = ${filters.join(' ')} proxy-server`,
      '[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true',
      ...filters.map(
        (name) =>
          `[filter:${name}]\nuse = egg:swift#${name === 'cache' ? 'memcache' : name}\n${options[name] ?? ''}`,
      ),
    ].join('\n');
  }

  async #makeBucket(): Promise<void> {
    const client = new S3Client({
      endpoint: `http://127.0.0.1:${this.#port}`,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: { accessKeyId: owner, secretAccessKey: secret },
    });
    await client.send(new CreateBucketCommand({ Bucket: swiftSettings(this.#port).S3_BUCKET }));
    client.destroy();
  }
}
