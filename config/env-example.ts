// Generates `.env.example` from the setting schemas (npm run env-example); a test compares the two.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { concerns } from './index.js';
import { projectRoot } from './environment.js';

interface Described {
  flags?: { default?: string | number | boolean; description?: string };
}

/** The text of `.env.example`: every setting with its description, commented out with its default. */
export function envExample(): string {
  const sections = concerns.map(({ title, settings }) => [
    `# ${title}`,
    ...Object.entries(settings).flatMap(([name, setting]) => {
      const { flags } = setting.describe() as Described;
      return [`# ${flags?.description}`, `#${name}=${flags?.default ?? ''}`];
    }),
  ]);
  return `# Every setting of the service. Copy to .env and change what differs; what stays commented out has the shown default.\n# A value with a # stands in quotes: from an unquoted # on the rest of a line is a comment.\n\n${sections
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(resolve(projectRoot, '.env.example'), envExample());
}
