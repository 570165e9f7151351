// Reads request bodies: JSON everywhere, forms and uploads where a route accepts them; nothing else, nothing over the limit.
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from 'koa';
import { koaBody, type HttpMethodEnum } from 'koa-body';
import { config } from '../../../config/index.js';
import { AppError, fail } from '../../lib/errors.js';
import { coercer, problem } from '../../lib/validation.js';
import type { Route, Upload, UploadDeclaration } from '../route.js';

export interface Received {
  body?: unknown;
  upload?: Upload;
}

type Parser = (ctx: Context) => Promise<Received>;

const mostFields = 30;
const mostFieldBytes = 64 * 1024;

/** The body parser of a route, or undefined when the route takes no body. */
export function bodyParser({ method, body, form, upload, aliases }: Route): Parser | undefined {
  if (!body) return undefined;
  const limit = form?.maxBytes ?? config.app.jsonMaxBytes;
  const parse = koaBody({
    json: true,
    urlencoded: form !== undefined,
    text: false,
    multipart: upload !== undefined,
    formidable: upload && multipartOptions(upload),
    jsonLimit: limit,
    formLimit: limit,
    parsedMethods: [method as HttpMethodEnum],
    jsonStrict: true,
    onError: refuse,
  });
  const coerceFields = coercer(body);
  return async (ctx) => {
    mustBeUtf8(ctx);
    await parse(ctx, () => Promise.resolve());
    const request = ctx.request as { body?: unknown; files?: Record<string, FormFile | FormFile[]> };
    if (!request.files) {
      if (upload?.required) fileMissing(upload);
      return { body: request.body ?? {} };
    }
    const file = await onlyFile(request.files, upload as UploadDeclaration);
    const fields = withAliases(request.body, aliases) as Record<string, unknown>;
    return { body: coerceFields(fields), upload: file };
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

interface FormFile {
  filepath: string;
  size: number;
  originalFilename: string | null;
}

function multipartOptions({ maxBytes }: UploadDeclaration) {
  const uploadDir = join(config.storage.root, 'incoming');
  mkdirSync(uploadDir, { recursive: true });
  return {
    uploadDir,
    maxFiles: 1,
    maxFileSize: maxBytes,
    maxTotalFileSize: maxBytes,
    maxFields: mostFields,
    maxFieldsSize: mostFieldBytes,
    allowEmptyFiles: false,
  };
}

async function onlyFile(
  files: Record<string, FormFile | FormFile[]>,
  upload: UploadDeclaration,
): Promise<Upload | undefined> {
  const received = Object.entries(files).flatMap(([name, file]) =>
    [file].flat().map((one) => ({ name, one })),
  );
  const wanted = received.find(({ name }) => upload.parts.includes(name));
  for (const { one } of received) if (one !== wanted?.one) await rm(one.filepath, { force: true });
  if (!wanted) return upload.required ? fileMissing(upload) : undefined;
  const { filepath, size, originalFilename } = wanted.one;
  return { path: filepath, size, filename: originalFilename ?? '' };
}

function fileMissing({ parts }: UploadDeclaration): never {
  return fail('validation_failed', { fields: { [parts[0]]: [problem('any.required')] } });
}

// What carries no status of its own is a body that cannot be unpacked, such as a broken gzip stream; formidable calls its
// status httpCode.
function refuse(error: Error & { status?: number; httpCode?: number }): never {
  if (error.httpCode === 413) throw new AppError('payload_too_large', { cause: error });
  throw error.status === undefined ? new AppError('bad_request', { cause: error }) : error;
}

// Another charset could make the bytes that were signed and the text that is checked differ.
function mustBeUtf8(ctx: Context): void {
  const charset = ctx.request.charset.toLowerCase();
  if (charset !== '' && charset !== 'utf-8' && charset !== 'utf8') fail('bad_request');
}
