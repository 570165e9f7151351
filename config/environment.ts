// Reads the process environment and the `.env` files beside package.json once, and validates every setting.
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import Joi from 'joi';

/** The folder of package.json: the parent of `config/` in the sources, one level higher in `build/`. */
export const projectRoot = [resolve(import.meta.dirname, '..'), resolve(import.meta.dirname, '../..')].find(
  (folder) => existsSync(resolve(folder, 'package.json')),
) as string;

/** Settings the service cannot run with, one sentence each. */
export class UnusableSettings extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['The configuration is not usable:', ...problems.map((problem) => `  - ${problem}`)].join('\n'));
    this.problems = problems;
  }
}

/**
 * A time or bound that suits every installation. Tests, that is processes with NODE_ENV=test, change it by a variable of
 * that name.
 */
export function constant(name: string, value: number): number {
  const changed = process.env.NODE_ENV === 'test' && process.env[name];
  return changed ? Number(changed) : value;
}

/** The text of the certificate file that the setting names, to be spread into TLS options; nothing without one. */
export function authority(setting: string, file: string | undefined): { ca?: string } {
  if (file === undefined) return {};
  try {
    return { ca: readFileSync(resolve(projectRoot, file), 'utf8') };
  } catch {
    throw new UnusableSettings([`"${setting}" cannot be read`]);
  }
}

/**
 * A comma-separated setting; `words` splits it.
 *
 * @param isGood whether a word is valid
 * @param wrong message for an invalid one
 */
export const list = (
  isGood: (word: string) => boolean = () => true,
  wrong = '"{#word}", which is not valid',
) =>
  Joi.string()
    .allow('')
    .default('')
    .custom((text: string, helpers) => {
      const word = words(text).find((one) => !isGood(one));
      return word === undefined ? text : helpers.message({ custom: `{#label} contains ${wrong}` }, { word });
    });

/** A URL of one of these schemes that can be taken apart: Joi takes ports and escapes that nothing else takes. */
export const urlOf = (...scheme: string[]) =>
  Joi.string()
    .uri({ scheme })
    .prefs({ abortEarly: true })
    .custom((text: string, helpers) =>
      isReadable(text)
        ? text
        : helpers.message({
            custom: '{#label} has a port or an escape that cannot be read; in a password % is written %25',
          }),
    );

function isReadable(text: string): boolean {
  try {
    const { username, password, pathname } = new URL(text);
    return [username, password, pathname].every((part) => typeof decodeURIComponent(part) === 'string');
  } catch {
    return false;
  }
}

/** The trimmed, non-empty words of a comma-separated setting. */
export function words(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/**
 * Validates the environment with a Joi schema.
 *
 * @param further finds further problems in the given settings
 * @returns the values with defaults; unknown names are ignored
 * @throws UnusableSettings with every problem
 */
export function readEnvironment<T>(
  schema: Joi.ObjectSchema<T>,
  further: (given: NodeJS.ProcessEnv) => string[],
): T {
  // Existing values win: the environment, then the tenant's file, then the shared file.
  const { TENANT_CODE } = process.env;
  for (const name of [...(TENANT_CODE ? [`.env.${TENANT_CODE}`] : []), '.env']) {
    const file = resolve(projectRoot, name);
    if (existsSync(file)) load(file);
  }
  // PM2 and the units say so; a command of an operator knows it from the release alone (deploy/release.mjs).
  if (existsSync(resolve(projectRoot, 'release.json'))) process.env.NODE_ENV ??= 'production';
  const given = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
  const result = schema.validate(given, { abortEarly: false, stripUnknown: true });
  const problems = [...(result.error?.details ?? []).map(({ message }) => message), ...further(given)];
  if (result.error || problems.length > 0) throw new UnusableSettings(problems);
  return result.value;
}

function load(file: string): void {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new UnusableSettings([`${file} cannot be read by this account`]);
  }
  // Editors on Windows begin a file with a byte order mark, which would become a part of the first name.
  text = text.replace(/^\uFEFF/, '');
  const stray = strayLine(text);
  if (stray > 0) throw new UnusableSettings([`${file}, line ${stray}, is not NAME=value`]);
  // Nothing else of the file: Node.js 20 takes an indented comment for a part of the next name.
  const settings = (text.match(assignment) ?? []).join('\n');
  for (const [name, value] of Object.entries(parseEnv(settings))) process.env[name] ??= value;
}

/** One setting; a value in quotes may have several lines. */
const assignment = /^[ \t]*(export[ \t]+)?[\w.-]+[ \t]*=[ \t]*("[^"]*"|'[^']*'|`[^`]*`)?.*/gm;

/** The first line that is neither a setting nor a comment, from 1; 0: there is none. */
function strayLine(text: string): number {
  const rest = text.replace(assignment, (setting) => setting.replace(/[^\n]/g, ''));
  return rest.split('\n').findIndex((line) => !/^\s*(#|$)/.test(line)) + 1;
}
