// Imports modules of the console that need no page, compiled as for a browser, to test them alone.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { config } from '../../../config/index.js';

const from = resolve(config.root, 'console/src');
const to = resolve(config.root, 'build/console-modules');

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  jsx: ts.JsxEmit.ReactJSX,
  rewriteRelativeImportExtensions: true,
};

// Globals of a browser that the modules read when imported.
const browser = {
  navigator: { language: 'en-US' },
  localStorage: { getItem: () => null, setItem: () => undefined },
  addEventListener: () => undefined,
  matchMedia: () => ({ matches: false, addEventListener: () => undefined }),
};

/** Imports a module by its path below console/src/. */
export async function consoleModule<T>(path: string): Promise<T> {
  for (const [name, value] of Object.entries(browser))
    Object.defineProperty(globalThis, name, { value, configurable: true });
  translate(path, new Set());
  return import(pathToFileURL(resolve(to, path.replace(/\.tsx?$/, '.js'))).href) as Promise<T>;
}

function translate(path: string, known: Set<string>): void {
  if (known.has(path)) return;
  known.add(path);
  const { outputText } = ts.transpileModule(readFileSync(resolve(from, path), 'utf8'), {
    compilerOptions: options,
    fileName: path,
  });
  const target = resolve(to, path.replace(/\.tsx?$/, '.js'));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, outputText);
  for (const [, imported = ''] of outputText.matchAll(/from ['"](\.[^'"]+)\.js['"]/g)) {
    const below = resolve(from, dirname(path), imported);
    const source = ['.ts', '.tsx'].map((ending) => below + ending).find((file) => ts.sys.fileExists(file));
    if (source) translate(source.slice(from.length + 1), known);
  }
}
