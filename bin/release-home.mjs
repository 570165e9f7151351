// The layout of releases: <home>/releases/<version>-<commit>, <home>/shared for what outlives them, <home>/current for the running one.
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { listSafely } from './process.mjs';
import { Failure, root } from './step.mjs';

const RELEASES = 'releases';
const SHARED = 'shared';
const CURRENT = 'current';
const KEPT = 3;
const UNFINISHED = '.unfinished';
/** Stands in a release that is whole; the service reads version and commit from it. */
const LABEL = 'release.json';

/** @typedef {{ name: string, version: string, commit: string, built_at: string }} Release */

/** @typedef {ReturnType<typeof openHome>} Home */

/** The folder of a deployment, by name or around the release this command belongs to. @param {string | undefined} given */
export function openHome(given) {
  const around = path.basename(path.dirname(root)) === RELEASES ? path.resolve(root, '../..') : undefined;
  const chosen = given ?? process.env.RELEASE_HOME ?? around;
  if (!chosen) throw new Failure('where do releases lie? --home /srv/back-office (or RELEASE_HOME)');
  const home = path.resolve(chosen);
  const settings = path.join(home, SHARED, '.env');
  if (!existsSync(settings))
    throw new Failure(
      `${settings} is missing: write the settings of production there (.env.example), and keep it to its owner (chmod 600)`,
    );
  mkdirSync(path.join(home, RELEASES), { recursive: true });
  /** @param {string} name */
  const folderOf = (name) => path.join(home, RELEASES, name);
  const link = path.join(home, CURRENT);

  return {
    home,
    link,
    folderOf,

    /** Those that are whole, the newest first. @returns {Release[]} */
    releases: () =>
      listSafely(path.join(home, RELEASES))
        .flatMap((name) => labelIn(folderOf(name)) ?? [])
        .sort((one, other) => (one.built_at < other.built_at ? 1 : -1)),

    /** The name of the release that `current` leads to. */
    current() {
      try {
        return path.basename(readlinkSync(link));
      } catch {
        return undefined;
      }
    },

    /** An empty folder to build in; nothing takes it for a release before `finish`. @param {string} name */
    begin(name) {
      const folder = folderOf(`${name}${UNFINISHED}`);
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
      return folder;
    },

    /** Lets a release see the shared settings. @param {string} folder */
    share(folder) {
      for (const name of listSafely(path.join(home, SHARED)).filter((one) => /^\.env(\.|$)/.test(one)))
        if (!existsSync(path.join(folder, name)))
          symlinkSync(path.join('../..', SHARED, name), path.join(folder, name));
    },

    /** A folder that was begun becomes a release. @param {string} folder @param {Release} release */
    finish(folder, release) {
      writeFileSync(path.join(folder, LABEL), `${JSON.stringify(release, undefined, 2)}\n`);
      rmSync(folderOf(release.name), { recursive: true, force: true });
      renameSync(folder, folderOf(release.name));
    },

    /** Leads `current` to a release, at once for whoever looks. @param {string} name */
    switchTo(name) {
      const next = `${link}.next`;
      rmSync(next, { force: true });
      symlinkSync(path.join(RELEASES, name), next);
      renameSync(next, link);
    },

    /** Removes all but the newest, the one that runs, and those that some process still works in. @returns {string[]} what went */
    prune() {
      const used = new Set([this.current(), ...namesInUse(path.join(home, RELEASES))]);
      const old = this.releases()
        .slice(KEPT)
        .map(({ name }) => name);
      const unfinished = listSafely(path.join(home, RELEASES)).filter((name) => name.endsWith(UNFINISHED));
      const gone = [...old, ...unfinished].filter((name) => !used.has(name));
      for (const name of gone) rmSync(folderOf(name), { recursive: true, force: true });
      return gone;
    },
  };
}

/** @param {string} folder @returns {Release | undefined} */
function labelIn(folder) {
  try {
    return JSON.parse(readFileSync(path.join(folder, LABEL), 'utf8'));
  } catch {
    return undefined;
  }
}

// A process loads modules from the folder it was started in, not from the present `current`.
/** @param {string} releases */
function namesInUse(releases) {
  return listSafely('/proc').flatMap((pid) => {
    try {
      const [name] = path.relative(releases, readlinkSync(`/proc/${pid}/cwd`)).split(path.sep);
      return name && name !== '..' ? [name] : [];
    } catch {
      return [];
    }
  });
}
