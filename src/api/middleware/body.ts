// Reads request bodies: JSON everywhere, forms where a route accepts them; nothing else, nothing over the limit.
import type { Context } from 'koa';
import { koaBody, type HttpMethodEnum } from 'koa-body';
import { config } from '../../../config/index.js';
import { AppError, fail } from '../../lib/errors.js';
import type { Route } from '../route.js';

type Parser = (ctx: Context) => Promise<unknown>;

/** The body parser of a route, or undefined when the route takes no body. */
export function bodyParser({ method, body, form }: Route): Parser | undefined {
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
    // What carries no status of its own is a body that cannot be unpacked, such as a broken gzip stream.
    onError: (error) => {
      throw 'status' in error ? error : new AppError('bad_request', { cause: error });
    },
  });
  return async (ctx) => {
    mustBeUtf8(ctx);
    await parse(ctx, () => Promise.resolve());
    return (ctx.request as { body?: unknown }).body ?? {};
  };
}

// Another charset could make the bytes that were signed and the text that is checked differ.
function mustBeUtf8(ctx: Context): void {
  const charset = ctx.request.charset.toLowerCase();
  if (charset !== '' && charset !== 'utf-8' && charset !== 'utf8') fail('bad_request');
}
