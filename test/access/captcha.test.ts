// Captchas: what is sent, and what it is drawn of. Checking them is a matter of login.test.ts.
import '../support/environment.js';
import test from 'ava';
import { key, patientRedis as redis } from '../../src/lib/redis/redis.js';
import { serviceTest } from '../support/service-test.js';

const service = serviceTest({ withWorker: false });

const pngOf = ({ captcha_image }: { captcha_image: string }): Buffer =>
  Buffer.from(captcha_image.replace('data:image/png;base64,', ''), 'base64');

async function shown() {
  const { data } = await service.anonymous.get('/login/captcha');
  return { png: pngOf(data), answer: (await redis.get(key('captcha', data.captcha_id))) as string };
}

test.serial('a captcha is a picture whose text is nowhere in what is sent, and expires', async (t) => {
  const { data } = await service.anonymous.get('/login/captcha');
  t.deepEqual([data.required, data.expires_in], [false, 120]);
  t.true(Buffer.from(data.captcha_id, 'base64url').length >= 16);
  const name = key('captcha', data.captcha_id);
  const answer = (await redis.get(name)) as string;
  t.regex(answer, /^[2-9a-hj-np-z]{5}$/);
  const seconds = await redis.ttl(name);
  t.true(seconds > 110 && seconds <= 120);
  const bytes = pngOf(data).toString('latin1');
  t.true(bytes.startsWith('\x89PNG'));
  t.true(bytes.length > 2000, `an empty picture takes few bytes, this one ${bytes.length}`);
  for (const sent of [data.captcha_id, bytes]) t.false(sent.toLowerCase().includes(answer));
});

test.serial('a captcha is large enough to read', async (t) => {
  const [one, other] = [await shown(), await shown()];
  const [width, height] = [one.png.readUInt32BE(16), one.png.readUInt32BE(20)];
  t.true(width >= 120 && height >= 40, `${width} × ${height}`);
  t.false(one.png.equals(other.png));
});

test.serial('captchas use no ambiguous characters', async (t) => {
  const letters = new Set<string>();
  for (let time = 0; time < 60; time++) for (const letter of (await shown()).answer) letters.add(letter);
  t.deepEqual(
    [...'0o1ilqz2s5b8gcuv'].filter((letter) => letters.has(letter)),
    [],
  );
  t.true(letters.size >= 15, [...letters].join(''));
});
