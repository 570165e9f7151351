// Reads request bodies: JSON everywhere, forms and uploads where a route accepts them, within its limit.
import type { Context } from 'koa';
import { koaBody, type HttpMethodEnum } from 'koa-body';
import { config } from '../../../../config/index.js';
import { AppError, fail } from '../../../lib/errors/app-error.js';
import { fieldsOf } from '../../../lib/input/body-fields.js';
import { coercer } from '../../../lib/input/validation.js';
import type { Route, Upload } from '../../declare/route.js';
import { fileMissing, receiveForm } from './upload.js';

interface Received {
  body?: unknown;
  /** The body as text, of a route that takes forms. */
  raw?: string;
  upload?: Upload;
}

type Parser = (ctx: Context) => Promise<Received>;

/** More than most records have fields. */
const usualBytes = 64 * 1024;

/** The body parser of a route; undefined when it takes no body. */
export function bodyParser({ method, body, form, upload, bodyBytes }: Route): Parser | undefined {
  if (!body) return undefined;
  const limit = Math.min(form?.maxBytes ?? bodyBytes ?? usualBytes, config.app.jsonMaxBytes);
  const parse = koaBody({
    // JSON is read as text for its long numbers (lib/input/body-fields.ts), forms because signatures cover their text.
    json: false,
    text: true,
    textTypes: form ? [jsonType, formType] : [jsonType],
    textLimit: limit,
    // One character a byte, so that what is not UTF-8 is noticed.
    encoding: 'binary',
    urlencoded: false,
    multipart: false,
    parsedMethods: [method as HttpMethodEnum],
    onError: refuse,
  });
  const coerceFields = coercer(body);
  return async (ctx) => {
    assertUtf8(ctx);
    assertPlain(ctx);
    if (upload && ctx.is('multipart')) {
      const received = await receiveForm(ctx, upload);
      return { body: coerceFields(received.fields), upload: received.upload };
    }
    if (upload?.required) fileMissing(upload);
    if (!form) assertJson(ctx);
    await parse(ctx, () => Promise.resolve());
    const { body: received = {} } = ctx.request as { body?: unknown };
    if (typeof received !== 'string') return { body: received };
    // A callback is stored even when its body cannot be read.
    const text = decoded(received, !form);
    const fields = { body: fieldsOf(text, ctx.get('Content-Type')) };
    return form ? { ...fields, raw: text } : fields;
  };
}

const jsonType = 'application/json';
const formType = 'application/x-www-form-urlencoded';

/** The body with aliases replaced by their fields. */
export function withAliases(body: unknown, aliases: Record<string, string> = {}): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const named: Record<string, unknown> = { ...body };
  for (const [alias, field] of Object.entries(aliases)) named[field] ??= named[alias];
  return named;
}

// An error without a status is a body that cannot be decompressed, such as a broken gzip stream.
function refuse(error: Error & { status?: number }): never {
  throw error.status === undefined ? new AppError('bad_request', { cause: error }) : error;
}

// With another charset the signed bytes and the checked text could differ.
function assertUtf8(ctx: Context): void {
  const charset = ctx.request.charset.toLowerCase();
  if (charset !== '' && charset !== 'utf-8' && charset !== 'utf8') fail('body_encoding_invalid');
}

// Any other body would count as missing.
function assertJson(ctx: Context): void {
  if (ctx.is(jsonType) === false && ctx.get('Content-Length') !== '0') fail('content_type_unsupported');
}

// A signature covers a byte order mark, too.
function decoded(binary: string, isStrict: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: isStrict, ignoreBOM: !isStrict }).decode(
      Buffer.from(binary, 'binary'),
    );
  } catch (error) {
    return fail('body_encoding_invalid', { cause: error });
  }
}

// A compressed kilobyte could expand to a megabyte.
function assertPlain(ctx: Context): void {
  const encoding = ctx.get('Content-Encoding').trim().toLowerCase();
  if (encoding !== '' && encoding !== 'identity') fail('content_encoding_unsupported');
}
