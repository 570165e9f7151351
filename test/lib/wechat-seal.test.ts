// What WeChat seals with the APIv3 key: opened whole only.
import '../support/environment.js';
import { createCipheriv } from 'node:crypto';
import test from 'ava';
import { openSealed } from '../../src/lib/channels/wechat-seal.js';

const key = 'api-v3-key-of-32-characters-here';
const [nonce, associated_data] = ['0123456789ab', 'certificate'];

/** The sealed text and its tag. */
function sealed(text: string): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(associated_data));
  return Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

const open = (bytes: Buffer): string =>
  openSealed({ ciphertext: bytes.toString('base64'), nonce, associated_data }, key).toString();

test('a sealed text is opened by its key', (t) => {
  t.is(open(sealed('{}')), '{}');
  const other = { ciphertext: sealed('{}').toString('base64'), nonce, associated_data };
  t.throws(() => openSealed(other, key.replace('a', 'b')));
  t.throws(() => openSealed({ ...other, associated_data: '' }, key));
});

test('a part of a tag opens nothing', (t) => {
  // The tag of an empty text.
  const tag = sealed('');
  t.is(tag.length, 16);
  for (let bytes = 0; bytes <= 16; bytes++)
    t.throws(() => open(tag.subarray(0, bytes)), { message: /too short/ }, `${bytes} bytes`);
  t.throws(() => open(sealed('x').subarray(0, 16)), undefined, 'a text that lost its end');
});
