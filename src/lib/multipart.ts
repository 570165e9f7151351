// multipart/form-data (RFC 7578) read piece by piece: a parser that holds no more than a delimiter and the head of one part.

/** What the parser meets, in the order of the body. */
export type MultipartEvent =
  { kind: 'part'; part: Part } | { kind: 'data'; bytes: Buffer } | { kind: 'part-end' };

export interface Part {
  name: string;
  /** Present on files, also when it is empty; not to be trusted. */
  filename?: string;
}

/** The body is not multipart/form-data. */
export class MultipartInvalid extends Error {}

const longestHead = 8 * 1024;
/** Bytes before the first and behind the last part, which nobody needs. */
const longestIdle = 64 * 1024;

const headEnd = Buffer.from('\r\n\r\n');
const carriageReturn = 13;

/** The boundary that a Content-Type names. @throws MultipartInvalid */
export function boundaryOf(contentType: string): string {
  const match = /;\s*boundary=(?:"([^"]{1,70})"|([^\s";,]{1,70}))\s*(?:;|$)/i.exec(contentType);
  if (!match || !/^multipart\/form-data\s*;/i.test(contentType))
    throw new MultipartInvalid('the form has no boundary');
  return (match[1] ?? match[2]) as string;
}

type State = 'preamble' | 'delimited' | 'head' | 'content' | 'epilogue';

export class MultipartParser {
  readonly #delimiter: Buffer;
  #state: State = 'preamble';
  // As if a line ended before the body, so that the first delimiter looks like every other.
  #rest: Buffer = Buffer.from('\r\n');
  #idle = 0;

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  /** Takes the next bytes in. @throws MultipartInvalid */
  *feed(bytes: Buffer): Generator<MultipartEvent> {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const event = this.#step();
      if (event === undefined) return;
      if (event !== null) yield event;
    }
  }

  /** The body has ended. @throws MultipartInvalid when the form has not */
  end(): void {
    if (this.#state !== 'epilogue') throw new MultipartInvalid('the form ended unexpectedly');
  }

  // An event, null when there was a step without one, undefined when more bytes are needed.
  #step(): MultipartEvent | null | undefined {
    if (this.#state === 'preamble') return this.#preamble();
    if (this.#state === 'delimited') return this.#delimited();
    if (this.#state === 'head') return this.#head();
    return this.#state === 'content' ? this.#content() : this.#epilogue();
  }

  #preamble(): null | undefined {
    const at = this.#rest.indexOf(this.#delimiter);
    if (at >= 0) {
      this.#take(at + this.#delimiter.length);
      this.#state = 'delimited';
      return null;
    }
    this.#idles(this.#take(this.#settled()));
    return undefined;
  }

  // `--` ends the form; a line end, which blanks may precede, begins a part.
  #delimited(): null | undefined {
    const line = this.#rest.indexOf('\r\n');
    if (this.#rest.length >= 2 && this.#rest.toString('latin1', 0, 2) === '--') {
      this.#state = 'epilogue';
      return null;
    }
    if (line < 0 && this.#rest.length < longestHead) return undefined;
    if (line < 0 || !/^[ \t]*$/.test(this.#rest.toString('latin1', 0, line)))
      throw new MultipartInvalid('a delimiter is followed by something else');
    this.#take(line);
    this.#state = 'head';
    return null;
  }

  // The line end of the delimiter is still there, so that a part without any header ends its head like the others.
  #head(): MultipartEvent | undefined {
    const end = this.#rest.indexOf(headEnd);
    if (end > longestHead || (end < 0 && this.#rest.length > longestHead))
      throw new MultipartInvalid('the head of a part is too long');
    if (end < 0) return undefined;
    const head = this.#take(end + headEnd.length).toString('utf8', 0, end);
    this.#state = 'content';
    return { kind: 'part', part: partOf(head) };
  }

  #content(): MultipartEvent | undefined {
    const end = this.#rest.indexOf(this.#delimiter);
    const bytes = this.#take(end < 0 ? this.#settled() : end);
    if (bytes.length > 0) return { kind: 'data', bytes };
    if (end < 0) return undefined;
    this.#take(this.#delimiter.length);
    this.#state = 'delimited';
    return { kind: 'part-end' };
  }

  #epilogue(): undefined {
    this.#idles(this.#take(this.#rest.length));
  }

  // How much of what is here cannot belong to a delimiter that the next bytes would complete.
  #settled(): number {
    const from = Math.max(0, this.#rest.length - this.#delimiter.length + 1);
    const line = this.#rest.indexOf(carriageReturn, from);
    return line < 0 ? this.#rest.length : line;
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }

  #idles({ length }: Buffer): void {
    this.#idle += length;
    if (this.#idle > longestIdle) throw new MultipartInvalid('there is too much around the parts');
  }
}

function partOf(head: string): Part {
  const headers = new Map(
    head
      .split('\r\n')
      .filter((line) => line !== '')
      .map((line) => {
        const colon = line.indexOf(':');
        if (colon < 1) throw new MultipartInvalid('a part has a malformed header');
        return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
      }),
  );
  if (/^(base64|quoted-printable)$/i.test(headers.get('content-transfer-encoding') ?? ''))
    throw new MultipartInvalid('a part is encoded (RFC 7578, 4.7)');
  const disposition = headers.get('content-disposition') ?? '';
  const name = parameter(disposition, 'name');
  if (!/^form-data\s*;/i.test(disposition) || name === undefined)
    throw new MultipartInvalid('a part has no name');
  return { name, filename: extended(disposition) ?? parameter(disposition, 'filename') };
}

// Browsers write a quote and line ends as %22, %0D and %0A (WHATWG HTML, multipart/form-data); others a quote as \".
function parameter(disposition: string, name: string): string | undefined {
  const match = new RegExp(`;\\s*${name}=(?:"((?:\\\\"|[^"])*)"|([^\\s;"]*))`, 'i').exec(disposition);
  const value = match?.[1] ?? match?.[2];
  return value
    ?.replace(/\\"|%22/g, '"')
    .replace(/%0d/gi, '\r')
    .replace(/%0a/gi, '\n');
}

// RFC 8187: filename*=UTF-8''%e2%82%ac.txt
function extended(disposition: string): string | undefined {
  const value = /;\s*filename\*=utf-8'[^';]*'([^\s;]*)/i.exec(disposition)?.[1];
  try {
    return value === undefined ? undefined : decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
