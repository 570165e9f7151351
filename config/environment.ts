// Reads the process environment once (and a `.env` file beside package.json) and checks it against every concern's settings.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import Joi from 'joi';

/** The folder that holds package.json: `config/` itself when run from source, one level higher when run from `build/`. */
export const projectRoot = [resolve(import.meta.dirname, '..'), resolve(import.meta.dirname, '../..')].find(
  (folder) => existsSync(resolve(folder, 'package.json')),
) as string;

/** A comma-separated setting; `words` takes it apart. */
export const list = () => Joi.string().allow('').default('');

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
 * @returns the checked values with their defaults; names the schema does not know are ignored
 * @throws Error whose message lists every problem, one per line, when anything is wrong
 */
export function readEnvironment<T>(schema: Joi.ObjectSchema<T>): T {
  const file = resolve(projectRoot, '.env');
  if (existsSync(file)) process.loadEnvFile(file);
  const present = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
  const result = schema.validate(present, { abortEarly: false, stripUnknown: true });
  if (result.error) throw new Error(explain(result.error.details.map((problem) => problem.message)));
  return result.value;
}

/** One readable text out of several configuration problems. */
export function explain(problems: string[]): string {
  return ['The configuration is not usable:', ...problems.map((problem) => `  - ${problem}`)].join('\n');
}
