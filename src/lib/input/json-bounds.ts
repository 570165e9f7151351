// The number of values and levels of a JSON text, counted without parsing: parsed values take many times its bytes.

const [space, quote, comma] = [0x20, 0x22, 0x2c];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Whether a JSON text exceeds these numbers of values or levels. */
export function exceeds(json: string, { values, levels }: { values: number; levels: number }): boolean {
  let [count, depth, isOpened] = [1, 0, false];
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code <= space) continue;
    const opens = code === openArray || code === openObject;
    const closes = code === closeArray || code === closeObject;
    if (code === comma || (isOpened && !closes)) count++;
    if (opens) depth++;
    if (closes) depth--;
    if (code === quote) at = endOfText(json, at);
    isOpened = opens;
    if (count > values || depth > levels) return true;
  }
  return false;
}

function endOfText(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end > 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json[end - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return end;
  }
  return json.length;
}
