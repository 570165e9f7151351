// Reads source text for anything that could make an order or a payment paid.
import ts from 'typescript';

/**
 * The places of a TypeScript source that write, or could write, the state paid of orders or payments: SQL that sets their
 * `status` to anything but another fixed state, in whatever spelling; objects, assignments and setters with `status: 'paid'`,
 * as they are given to a model; models of these tables, whose state anybody could then save.
 */
export function paidWriters(source: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const text = textOf(node);
    if (text !== undefined) {
      if (writesInSql(text)) found.push(text);
      return;
    }
    if (writesInCode(node)) found.push(node.getText());
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('source.ts', source, ts.ScriptTarget.ES2022, true));
  return found;
}

// The text of an expression of literals; parts inserted at run time show as `?`.
function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    const parts = node.templateSpans.map((span) => (textOf(span.expression) ?? '?') + span.literal.text);
    return node.head.text + parts.join('');
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined;
  const sides = [textOf(node.left), textOf(node.right)];
  return sides.some((side) => side !== undefined) ? sides.map((side) => side ?? '?').join('') : undefined;
}

const tables = String.raw`(?:[\w?]+\.)?(?:orders|payments|\?)`;
const otherState = /^'(?:pending|failed|cancelled)'/;

function writesInSql(text: string): boolean {
  const sql = text
    .replace(/\/\*.*?\*\/|--[^\n]*|#[^\n]*/gs, ' ')
    .replace(/[`"]/g, (quote) => (quote === '"' ? "'" : ''))
    .replace(/\s+/g, ' ')
    .toLowerCase();
  const updated = new RegExp(String.raw`\bupdate\b.*?(?<![\w.])${tables}(?!\w).*?\bset\b(.*)`).exec(sql)?.[1];
  const upserted = new RegExp(String.raw`\binto ${tables}.*\bon duplicate key update\b(.*)`).exec(sql)?.[1];
  if ([updated, upserted].some((set) => set !== undefined && setsState(set))) return true;
  const columns = new RegExp(
    String.raw`\b(?:insert|replace)\b[^(]*(?<![\w.])${tables}(?!\w) ?(?:\(([^)]*)\)|set\b(.*))?`,
  ).exec(sql);
  if (columns && /(?<!\w)status\b/.test(columns[1] ?? columns[2] ?? '')) return true;
  return new RegExp(String.raw`\bload data\b.*\binto table ${tables}`).test(sql);
}

// Text in brackets, such as a subquery, is removed before the statement's own WHERE is searched.
function setsState(rest: string): boolean {
  let flat = rest;
  while (/\([^()]+\)/.test(flat)) flat = flat.replace(/\([^()]+\)/g, '()');
  const [assignments = ''] = flat.split(/\bwhere\b/);
  const values = [...assignments.matchAll(/(?<!\w)status ?:?= ?([^,]*)/g)].map(
    ([, value]) => value as string,
  );
  return values.some((value) => !otherState.test(value));
}

function writesInCode(node: ts.Node): boolean {
  if (ts.isPropertyAssignment(node)) {
    const name = node.name.getText().replace(/['"`]/g, '');
    return (
      (name === 'status' && saysPaid(node.initializer)) ||
      (name === 'tableName' && namesTable(node.initializer))
    );
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken) {
    return /(?:\.status|\[['"`]status['"`]\])$/.test(node.left.getText()) && saysPaid(node.right);
  }
  if (!ts.isCallExpression(node)) return false;
  const [first, second] = node.arguments;
  const isSetter = first !== undefined && textOf(first) === 'status';
  return isSetter && second !== undefined && saysPaid(second);
}

// A literal, or an expression that may evaluate to one.
function saysPaid(node: ts.Node): boolean {
  if (textOf(node)?.toLowerCase() === 'paid') return true;
  if (ts.isConditionalExpression(node)) return saysPaid(node.whenTrue) || saysPaid(node.whenFalse);
  if (ts.isAsExpression(node) || ts.isParenthesizedExpression(node) || ts.isSatisfiesExpression(node))
    return saysPaid(node.expression);
  return false;
}

const namesTable = (node: ts.Node): boolean => /^(?:orders|payments)$/i.test(textOf(node) ?? '');
