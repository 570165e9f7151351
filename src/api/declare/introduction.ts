// The introduction of the document: rules for every operation.
import { config } from '../../../config/index.js';
import { errorCatalogue } from '../../lib/errors/catalogue.js';
import { callbackSamples } from './callback-samples.js';

const languages: Record<string, string> = {
  sh: 'curl and OpenSSL',
  js: 'Node.js',
  php: 'PHP',
  java: 'Java',
  python: 'Python',
};

/** Markdown. */
export const introduction =
  (): string => `Administration of users, orders, payments and files, and the callbacks of payment companies.

## Signing in

\`POST /api/admin/login\` with \`username\` and \`password\` returns a \`token\`; every other request carries it as \`Authorization: Bearer <token>\`
(here by the button Authorize).
After some failures a captcha is asked for (\`captcha_required\`): \`GET /api/admin/login/captcha\` returns a picture and a \`captcha_id\`; send
the id and the characters with the next try. An \`x-permission\` names the permission an operation needs; \`GET /api/admin/info\` lists those held.

\`\`\`sh
curl -s ${config.app.url}/api/admin/login -H 'Content-Type: application/json' -d '{"username":"admin","password":"admin123"}'
\`\`\`

Pages that cannot send a header (an EventSource, a WebSocket) take a one-time \`ticket\` in the query: \`POST /api/admin/notifications/ws-ticket\`.

## Answers and errors

Every JSON answer is \`{code, message, data, trace_id}\`, with \`code\` 200 and HTTP status 200 for success. A failure has the HTTP status of its
kind, \`data\` null, \`error_code\` (a slug for programs, listed below) and, where it is about fields, \`errors\` with texts per field. Message
and texts are Chinese or, with \`Accept-Language: en-US\`, English. \`trace_id\` leads to the log; \`X-Trace-Id\` sets it.
429 and 503 have \`Retry-After\` in seconds; a 429 of the request limits names its limit in \`RateLimit\` and \`RateLimit-Policy\`.

## Lists

\`page\` (from 1) and \`page_size\` (100 at most) choose the page; the answer is \`{list, page, page_size, total}\`. \`order_by\` is \`column:asc\` or
\`column:desc\`, several separated by commas. Filters are query parameters; an empty one counts as not given.
Those for texts match a part, literally; \`trace_id\`, \`source\`, \`job\` and \`extension\` match as a whole.

## Times, days and amounts

Times are UTC (\`2026-11-22T08:30:00.000Z\`). With \`X-Timezone: Asia/Shanghai\` (or \`Timezone\`, or \`?timezone=\`) times without an offset are
read in that zone, and \`created_at\`, \`updated_at\`, \`deleted_at\` and \`pay_time\` are returned in it, with what the operator adds to them; all other
times stay UTC. A time filter is a day (\`2026-11-22\`), a time (\`2026-11-22 08:30:00\`) or RFC 3339.
Amounts are JSON numbers of at most two decimals, up to 10¹³; they may be sent as texts (\`"25.80"\`), and are exact either way.

## Texts

Texts have printable characters only: no control characters, no direction overrides, no halves of characters. Tabs and line breaks are
taken in descriptions, remarks, names of products and the content of notifications. A record may be sent back with PUT as it was returned; that changes nothing.

## Doing things once

An operation that creates takes an \`Idempotency-Key\` of up to 128 visible characters. Repeating the request with the same key returns the
record that was made first, also after 503 or a lost connection. The same key with another body is refused. A key belongs to its administrator and
kind of operation, and is remembered for seven days.

## Payment callbacks

A payment company sends its result to \`${config.app.url}/api/payment/notify/{type}\`, as JSON or as a form. For the mock channel the signature is the
lower-case hex HMAC-SHA-256 of \`out_trade_no|SUCCESS|amount\` under the method's \`shared_secret\`, the amount with two decimals.
For payment \`PAY1\` of 25.80 under the secret \`secret\` the text is \`PAY1|SUCCESS|25.80\` and the signature
\`53b375a800326e1625ba93db207f6184b695524d45997b97d0e51a023629416a\`.
The answer is 200 with \`status\` \`paid\`, or \`processing\` when it was stored and will be settled. 503 means: send it again. Repeats are
safe; refusals are 4xx with their \`error_code\`. \`transaction_id\`, \`trade_no\` or \`third_party_no\` is stored as the company's number;
\`amount\`, \`total_amount\` or \`pay_amount\`, when sent, must be the amount of the payment.

Callbacks of WeChat Pay and Alipay are signed as these companies document it. Where the operator has opened them success is an empty 204 for
WeChat Pay and the text \`success\` for Alipay; elsewhere they are stored and answered 501.

${Object.entries(callbackSamples)
  .map(([language, code]) => `### ${languages[language]}\n\n\`\`\`${language}\n${code}\n\`\`\``)
  .join('\n\n')}

## Error slugs

| error_code | HTTP | code | zh-CN | en-US |
| --- | --- | --- | --- | --- |
${Object.entries(errorCatalogue)
  .map(([slug, { status, code, zh, en }]) => `| \`${slug}\` | ${status} | ${code} | ${zh} | ${en} |`)
  .join('\n')}
`;
