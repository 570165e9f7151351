// Captchas: what is sent, and what it is drawn of. Checking them is a matter of login.test.ts.
import '../support/environment.js';
import test from 'ava';
import { key, patientRedis as redis } from '../../src/lib/redis/redis.js';
import { serviceTest } from '../support/service-test.js';

const service = serviceTest({ withWorker: false });

async function shown() {
  const { captcha_id, captcha_image } = (await service.anonymous.get('/login/captcha')).data;
  const png = Buffer.from(captcha_image.replace('data:image/png;base64,', ''), 'base64');
  return { id: captcha_id, png, answer: (await redis.get(key('captcha', captcha_id))) as string };
}

test.serial('a captcha is a picture, and its text is nowhere in what is sent', async (t) => {
  const { id, png, answer } = await shown();
  t.is(png.toString('latin1', 1, 4), 'PNG');
  t.true(png.length > 2000, `an empty picture takes few bytes, this one ${png.length}`);
  t.regex(answer, /^[a-z0-9]{5}$/);
  for (const sent of [id, png.toString('latin1')]) t.false(sent.toLowerCase().includes(answer));
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
