// JSON objects of payment companies: parsed, and as they were written, which is what was signed.

/** Undefined unless the text is a JSON object. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const content: unknown = JSON.parse(text);
    return typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The members of the outermost object, each value as its raw text without the blanks around it.
 *
 * @param text valid JSON
 * @returns undefined unless it is an object whose names are all different
 */
export function rawMembers(text: string): Map<string, string> | undefined {
  const members = new Map<string, string>();
  let depth = 0;
  let name: string | undefined;
  let last = '';
  let start = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g)) {
    if (token === '}' || token === ']') depth--;
    const endsMember = (token === ',' && depth === 1) || depth === 0;
    if (endsMember && name !== undefined) {
      if (members.has(name)) return undefined;
      members.set(name, text.slice(start, index).trim());
      name = undefined;
    }
    if (token === '[' && depth === 0) return undefined;
    if (token === '{' || token === '[') depth++;
    if (token === ':' && depth === 1) {
      name = JSON.parse(last) as string;
      start = index + 1;
    }
    last = token;
  }
  return depth === 0 && last === '}' ? members : undefined;
}
