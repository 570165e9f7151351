// Reads request bodies: JSON everywhere, forms and uploads where a route accepts them; nothing else, nothing over the limit.
import { rm } from 'node:fs/promises';
import type { Context } from 'koa';
import { koaBody, type HttpMethodEnum } from 'koa-body';
import { config } from '../../../config/index.js';
import { AppError, fail } from '../../lib/errors.js';
import { coercer, problem } from '../../lib/validation.js';
import type { Route, Upload, UploadDeclaration } from '../route.js';
import { receiveForm } from './upload.js';

export interface Received {
  body?: unknown;
  upload?: Upload;
}

type Parser = (ctx: Context) => Promise<Received>;

/** The body parser of a route, or undefined when the route takes no body. */
export function bodyParser({ method, body, form, upload, aliases }: Route): Parser | undefined {
  if (!body) return undefined;
  const limit = form?.maxBytes ?? config.app.jsonMaxBytes;
  const parse = koaBody({
    json: true,
    urlencoded: form !== undefined,
    text: false,
    multipart: false,
    jsonLimit: limit,
    formLimit: limit,
    parsedMethods: [method as HttpMethodEnum],
    jsonStrict: true,
    onError: refuse,
  });
  const coerceFields = coercer(body);
  return async (ctx) => {
    mustBeUtf8(ctx);
    if (upload && ctx.is('multipart')) {
      const received = await receiveForm(ctx, upload);
      const fields = withAliases(received.fields, aliases) as Record<string, unknown>;
      return { body: coerceFields(fields), upload: received.upload };
    }
    await parse(ctx, () => Promise.resolve());
    if (upload?.required) fileMissing(upload);
    return { body: (ctx.request as { body?: unknown }).body ?? {} };
  };
}

/** Removes what is left of an upload. */
export async function discard(upload: Upload): Promise<void> {
  await rm(upload.path, { force: true });
}

/** The body with its fields also under their documented names. */
export function withAliases(body: unknown, aliases: Record<string, string> = {}): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const named: Record<string, unknown> = { ...body };
  for (const [alias, field] of Object.entries(aliases)) named[field] ??= named[alias];
  return named;
}

function fileMissing({ parts }: UploadDeclaration): never {
  return fail('validation_failed', { fields: { [parts[0]]: [problem('any.required')] } });
}

// What carries no status of its own is a body that cannot be unpacked, such as a broken gzip stream.
function refuse(error: Error & { status?: number }): never {
  throw error.status === undefined ? new AppError('bad_request', { cause: error }) : error;
}

// Another charset could make the bytes that were signed and the text that is checked differ.
function mustBeUtf8(ctx: Context): void {
  const charset = ctx.request.charset.toLowerCase();
  if (charset !== '' && charset !== 'utf-8' && charset !== 'utf8') fail('bad_request');
}
