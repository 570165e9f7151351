// Prints every text of the console in both languages side by side, as a table to be read through.
// `node console/build/words.mjs > words.md`
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const source = fileURLToPath(new URL('../src/', import.meta.url));

/** What a text reads as; of a function, what it puts together. */
const wordsOf = (node) =>
  ts.isStringLiteralLike(node)
    ? node.text
    : node
        .getText()
        .replace(/\s+/g, ' ')
        .replace(/^\([^)]*\) => /, '');

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

const isWords = (node) => ts.isStringLiteralLike(node) || ts.isArrowFunction(node);

/** Rows of `[name, chinese, english]`. */
function textsIn(file) {
  const rows = [];
  const visit = (node) => {
    if (ts.isArrayLiteralExpression(node) && node.elements.length >= 2) {
      const [chinese, english] = node.elements;
      if (isWords(chinese) && isWords(english) && /\p{Script=Han}/u.test(chinese.getText())) {
        const name = ts.isPropertyAssignment(node.parent) ? node.parent.name.getText() : '';
        rows.push([name, wordsOf(chinese), wordsOf(english)]);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(
    ts.createSourceFile(
      file,
      readFileSync(source + file, 'utf8'),
      ts.ScriptTarget.Latest,
      true,
      ts.ScriptKind.TSX,
    ),
  );
  return rows;
}

const files = readdirSync(source, { recursive: true }).filter((file) => /\.tsx?$/.test(file));
for (const file of files.sort()) {
  const rows = textsIn(file);
  if (rows.length === 0) continue;
  process.stdout.write(`\n## ${file}\n\n| | 中文 | English |\n| --- | --- | --- |\n`);
  for (const row of rows) process.stdout.write(`| ${row.map(cell).join(' | ')} |\n`);
}
