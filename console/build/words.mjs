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

function leaves(node, name, found) {
  if (ts.isObjectLiteralExpression(node))
    for (const property of node.properties)
      if (ts.isSpreadAssignment(property)) leaves(property.expression, name, found);
      else leaves(property.initializer, [name, property.name.getText()].filter(Boolean).join('.'), found);
  else if (ts.isArrayLiteralExpression(node))
    node.elements.forEach((element, index) => leaves(element, `${name}.${index}`, found));
  else if (ts.isAsExpression(node)) leaves(node.expression, name, found);
  else found.set(name, wordsOf(node));
}

/** Rows of `[name, chinese, english]`. */
function textsIn(file) {
  const rows = [];
  const visit = (node) => {
    if (ts.isObjectLiteralExpression(node)) {
      const of = (language) => node.properties.find(({ name }) => name?.getText() === `'${language}'`);
      const [chinese, english] = [of('zh-CN'), of('en-US')];
      if (chinese && english) {
        const [left, right] = [new Map(), new Map()];
        leaves(chinese.initializer, '', left);
        leaves(english.initializer, '', right);
        for (const [name, text] of left) rows.push([name, text, right.get(name) ?? '']);
        return;
      }
    }
    if (ts.isArrayLiteralExpression(node) && node.elements.length >= 2) {
      const [chinese, english] = node.elements;
      if (
        ts.isStringLiteralLike(chinese) &&
        ts.isStringLiteralLike(english) &&
        /\p{Script=Han}/u.test(chinese.text)
      ) {
        const name = ts.isPropertyAssignment(node.parent) ? node.parent.name.getText() : '';
        rows.push([name, chinese.text, english.text]);
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
