// Writes the types of every operation out of an OpenAPI document: node generate.mjs <file or address> [where to].
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const [source = '../../build/openapi.json', target] = process.argv.slice(2);

const blob = ts.factory.createTypeReferenceNode('Blob');
const types = await openapiTS(/^https?:/.test(source) ? new URL(source) : pathToFileURL(resolve(source)), {
  // A file is a Blob, sent or received.
  transform: ({ format }) => (format === 'binary' ? blob : undefined),
});
writeFileSync(target ?? resolve(import.meta.dirname, 'src/schema.ts'), astToString(types));
