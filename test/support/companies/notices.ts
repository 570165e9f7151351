// Delivery of notices of payment companies.
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { untouched } from '../callbacks.js';

/** A notice as its company sends it. */
export interface Notice {
  headers: Record<string, string>;
  body: string;
}

/** A notice of WeChat Pay whose signature fits no longer. */
export const unverifiable = ({ headers, body }: Notice): Notice => ({
  headers: { ...headers, 'Wechatpay-Nonce': 'another' },
  body,
});

export interface NoticeAnswer {
  status: number;
  /** Media type. */
  type: string | null;
  text: string;
  /** Slug of a refusal. */
  slug: string | undefined;
}

/** The acknowledgement that each company expects. */
export const yes: Record<'wechat' | 'alipay', NoticeAnswer> = {
  wechat: { status: 204, type: null, text: '', slug: undefined },
  alipay: { status: 200, type: 'text/plain; charset=utf-8', text: 'success', slug: undefined },
};

export const refused = (slug: string, status = 400) => ({ status, slug });

/** The rows of a payment that a refused notice has only flagged, without its attempts. */
export const flagged = (fail_reason: string) => ({
  payment: { ...untouched.payment, needs_attention: true, fail_reason },
  order: untouched.order,
});

/** Sends a notice to that address, so many copies at the same time. @returns the answer to each */
export async function deliver(url: string, notice: Notice, repeat = 1): Promise<NoticeAnswer[]> {
  const agent = new Agent({ keepAlive: true });
  try {
    return await Promise.all(Array.from({ length: repeat }, () => send(agent, url, notice)));
  } finally {
    agent.destroy();
  }
}

async function send(agent: Agent, url: string, { headers, body }: Notice): Promise<NoticeAnswer> {
  const sent = request(url, { agent, method: 'POST', headers });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const answer = await text(response);
  const slug = /"error_code":"(\w+)"/.exec(answer)?.[1];
  const type = response.headers['content-type'] ?? null;
  return { status: response.statusCode ?? 0, type, text: answer, slug };
}
