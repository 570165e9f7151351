// Captchas against a reader of pictures: it reads plain writing in the same font, and hardly any captcha.
import '../support/environment.js';
import { randomInt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { captchaCharacters } from '../../src/lib/captcha/picture.js';
import { key, patientRedis as redis } from '../../src/lib/redis/redis.js';
import { makeSolver, uprightPicture } from '../support/captcha-solver.js';
import { serviceTest } from '../support/service-test.js';

const service = serviceTest({ withWorker: false });

interface Shown {
  png: Buffer;
  answer: string;
}

async function shown(): Promise<Shown> {
  const { captcha_id, captcha_image } = (await service.anonymous.get('/login/captcha')).data;
  return {
    png: Buffer.from(captcha_image.replace('data:image/png;base64,', ''), 'base64'),
    answer: (await redis.get(key('captcha', captcha_id))) as string,
  };
}

function plain(): Shown {
  const letters = Array.from({ length: 5 }, () => captchaCharacters[randomInt(captchaCharacters.length)]);
  const text = letters.join('');
  return { png: uprightPicture(text), answer: text.toLowerCase() };
}

/** How many it reads. The service in this thread answers between two pictures. */
async function readBy(solve: (png: Buffer) => string, pictures: readonly Shown[]): Promise<number> {
  let read = 0;
  for (const { png, answer } of pictures) {
    if (solve(png) === answer) read++;
    await setImmediate();
  }
  return read;
}

test.serial('a solver that reads plain text in the same font fails on captchas', async (t) => {
  const captchas: Shown[] = [];
  while (captchas.length < 80) captchas.push(await shown());
  const plainOnes = Array.from({ length: 30 }, plain);
  for (const turns of [[0], [-20, -10, 0, 10, 20]]) {
    const solve = makeSolver(turns);
    t.true((await readBy(solve, plainOnes)) >= 24, `plain writing, ${turns.length} angles`);
    const read = await readBy(solve, captchas);
    t.true(read <= 3, `${read} of 80 captchas were read, ${turns.length} angles`);
  }
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
