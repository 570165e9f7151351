// A machine for releases: a repository, the folder of the deployment, and a PM2 of the test's own.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { config } from '../../config/index.js';
import { freePort } from './servers/free-port.js';
import { until } from './until.js';

const run = promisify(execFile);

/** What a checkout holds besides its sources. */
const leftOut = /^(build|storage|\.git|\.local|\.env)$|(^|\/)(node_modules|generated|dist)$/;

interface Started {
  name: string;
  pid: number;
  pm2_env: { status: string; pm_cwd: string };
}

export class ReleaseStage {
  readonly folder = mkdtempSync(join(tmpdir(), 'releases-'));
  readonly repository = join(this.folder, 'repository');
  readonly home = join(this.folder, 'home');
  readonly settings: Record<string, string>;
  readonly port: number;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(port: number, settings: Record<string, string>) {
    this.port = port;
    this.settings = settings;
    const { PATH, HOME, TMPDIR, THROW_AWAY_HOME } = process.env;
    const pm2 = join(config.root, 'node_modules/.bin');
    this.#env = {
      ...{ HOME, TMPDIR, THROW_AWAY_HOME },
      ...{ PATH: `${PATH}:${pm2}`, PM2_HOME: join(this.folder, 'pm2') },
    };
  }

  /** With the servers of the tests and settings as production wants them. */
  static async make(): Promise<ReleaseStage> {
    const [port, metrics] = [await freePort(), await freePort()];
    const folder = mkdtempSync(join(tmpdir(), 'release-files-'));
    const { DB_HOST = '', DB_PORT = '', DB_USER = '', DB_PASSWORD = '', REDIS_URL = '' } = process.env;
    const stage = new ReleaseStage(port, {
      ...{ DB_HOST, DB_PORT, DB_USER, DB_PASSWORD, REDIS_URL },
      ...{ DB_NAME: `${process.env.DB_NAME}`, REDIS_PREFIX: `${process.env.REDIS_PREFIX}-release` },
      ...{ PORT: String(port), METRICS_PORT: String(metrics), HOST: '127.0.0.1', API_INSTANCES: '2' },
      ...{ STORAGE_ROOT: join(folder, 'storage'), LOG_LEVEL: 'warn', LIMITS_ENABLED: 'false' },
      ...{ JWT_SECRET: '3f1c7d9a0b5e8246c1f7a9d3e5b80264', APP_KEY: 'b9e4a7c25d1f80369ae4c7b2d5f18063' },
      ...{ ADMIN_PASSWORD: 'Velvet-Harbour-2031', PASSWORD_CHANGE_REQUIRED: 'false' },
      ...{ APP_URL: 'https://back-office.test', MODULE_PAYMENTS_ENABLED: 'true', BCRYPT_COST: '4' },
    });
    mkdirSync(join(stage.home, 'shared'), { recursive: true });
    stage.write(stage.settings);
    cpSync(config.root, stage.repository, {
      recursive: true,
      filter: (source) => !leftOut.test(relative(config.root, source)),
    });
    await stage.#git('init', '--quiet');
    await stage.commit('first');
    return stage;
  }

  /** Writes the shared settings, or those of a tenant. */
  write(settings: Record<string, string>, file = '.env'): void {
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
    writeFileSync(join(this.home, 'shared', file), `${lines.join('\n')}\n`, { mode: 0o600 });
  }

  /** Changes a file of the repository. */
  edit(path: string, change: (text: string) => string): void {
    const file = join(this.repository, path);
    writeFileSync(file, change(readFileSync(file, 'utf8')));
  }

  /** Changes a file of a release. */
  editRelease(name: string, path: string, change: (text: string) => string): void {
    const file = join(this.home, 'releases', name, path);
    writeFileSync(file, change(readFileSync(file, 'utf8')));
  }

  async commit(title: string): Promise<void> {
    await this.#git('add', '--all');
    const author = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost'];
    await this.#git(...author, 'commit', '--quiet', '-m', title);
  }

  /** The release that `current` leads to. */
  current(): string {
    return readlinkSync(join(this.home, 'current')).replace('releases/', '');
  }

  /** The releases that are there. */
  releases(): string[] {
    return readdirSync(join(this.home, 'releases')).sort();
  }

  /** A release of the last commit, or of that name, from the build of this checkout. */
  async plant(name?: string): Promise<string> {
    const { stdout } = await this.#git('rev-parse', '--short=12', 'HEAD');
    const release = name ?? `${config.version}-${stdout.trim()}`;
    const folder = join(this.home, 'releases', release);
    mkdirSync(folder, { recursive: true });
    for (const part of ['package.json', 'ecosystem.config.js', 'build'])
      cpSync(join(config.root, part), join(folder, part), { recursive: true });
    symlinkSync(join(config.root, 'node_modules'), join(folder, 'node_modules'));
    return release;
  }

  /** The releases that processes work in, one entry for each process. */
  async inUse(): Promise<string[]> {
    return (await this.started()).map(({ pid }) => readlinkSync(`/proc/${pid}/cwd`).split('/').at(-1) ?? '');
  }

  #git(...args: string[]) {
    return run('git', ['-C', this.repository, ...args], { maxBuffer: 64 * 1024 * 1024 });
  }

  /** Runs the release command of the repository to its end. */
  release(...args: string[]): Promise<{ output: string; code: number | null }> {
    return this.#run(args);
  }

  /** The same, interrupted as soon as `current` leads elsewhere. */
  interrupted(): Promise<{ output: string; code: number | null }> {
    const before = this.current();
    return this.#run([], (stop) => until(() => this.current() !== before, 60_000).then(stop));
  }

  async #run(args: string[], meanwhile?: (stop: () => void) => Promise<void>) {
    const command = [join(this.repository, 'deploy/release.mjs'), ...args, '--home', this.home];
    const child = spawn(process.execPath, command, { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
    await meanwhile?.(() => void child.kill('SIGINT'));
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => (output += data.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return { output, code };
  }

  async pm2(...args: string[]): Promise<string> {
    const program = join(config.root, 'node_modules/pm2/bin/pm2');
    const { stdout } = await run(process.execPath, [program, ...args], { env: this.#env });
    return stdout;
  }

  /** What PM2 runs. */
  async started(): Promise<Started[]> {
    const line = (await this.pm2('jlist', '--silent')).split('\n').find((one) => one.startsWith('['));
    return JSON.parse(line ?? '[]') as Started[];
  }

  async remove(): Promise<void> {
    await this.pm2('kill').catch(() => undefined);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
