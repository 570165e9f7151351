// A channel's failure when it learned nothing about the payment.
import type { ExecutionContext } from 'ava';
import { ChannelFailure } from '../../src/lib/channels/channel.js';

/** Asserts that a request to a company ends in a ChannelFailure with those words. */
export async function failsWith(t: ExecutionContext, asked: Promise<unknown>, words: RegExp): Promise<void> {
  const error = await t.throwsAsync(asked, { instanceOf: ChannelFailure });
  t.regex(error?.message ?? '', words);
}
