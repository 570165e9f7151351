// Reads the process environment once (and the `.env` files beside package.json) and checks it against every concern's settings.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import Joi from 'joi';

/** The folder that holds package.json: `config/` itself when run from source, one level higher when run from `build/`. */
export const projectRoot = [resolve(import.meta.dirname, '..'), resolve(import.meta.dirname, '../..')].find(
  (folder) => existsSync(resolve(folder, 'package.json')),
) as string;

/** Settings the service cannot run with; one sentence each. */
export class UnusableSettings extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['The configuration is not usable:', ...problems.map((problem) => `  - ${problem}`)].join('\n'));
    this.problems = problems;
  }
}

/**
 * A comma-separated setting; `words` takes it apart.
 *
 * @param isGood whether a word may stand in it
 * @param wrong what is said of one that may not
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

/** The trimmed, non-empty words of a comma-separated setting. */
export function words(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/**
 * Checks the environment against a Joi schema.
 *
 * @param further says what else is wrong with the settings as they are given
 * @returns the checked values with their defaults; names the schema does not know are ignored
 * @throws UnusableSettings with every problem
 */
export function readEnvironment<T>(
  schema: Joi.ObjectSchema<T>,
  further: (given: NodeJS.ProcessEnv) => string[],
): T {
  // What is set already wins: the environment over the tenant's own file, that one over the file for all.
  const { TENANT_CODE } = process.env;
  for (const name of [...(TENANT_CODE ? [`.env.${TENANT_CODE}`] : []), '.env']) {
    const file = resolve(projectRoot, name);
    if (existsSync(file)) process.loadEnvFile(file);
  }
  const given = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
  const result = schema.validate(given, { abortEarly: false, stripUnknown: true });
  const problems = [...(result.error?.details ?? []).map(({ message }) => message), ...further(given)];
  if (result.error || problems.length > 0) throw new UnusableSettings(problems);
  return result.value;
}
