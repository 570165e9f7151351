// Captchas: an image for people, an answer in Redis that is used up by the first look at it.
import { Resvg } from '@resvg/resvg-js';
import svgCaptcha from 'svg-captcha';
import { config } from '../../config/index.js';
import { randomToken } from './random-id.js';
import { key, patientRedis } from './redis.js';

const length = 5;
const confusing = '0O1Iilo';

/**
 * Draws a new captcha and keeps its answer for CAPTCHA_TTL_SECONDS.
 *
 * @returns its id and a PNG as data URI
 * @throws when Redis is away
 */
export async function createCaptcha(): Promise<{ id: string; image: string }> {
  const { data, text } = svgCaptcha.create({
    size: length,
    ignoreChars: confusing,
    noise: 2,
    width: 160,
    height: 60,
  });
  const id = randomToken(16);
  await patientRedis.set(captchaKey(id), text.toLowerCase(), 'EX', config.auth.captchaTtlSeconds);
  const png = new Resvg(data, { background: '#f4f4f4', font: { loadSystemFonts: false } }).render().asPng();
  return { id, image: `data:image/png;base64,${png.toString('base64')}` };
}

/** Checks an answer, ignoring case, and uses the captcha up whether it is right or wrong. @throws when Redis is away */
export async function consumeCaptcha(id: string, answer: string): Promise<boolean> {
  const expected = await patientRedis.getdel(captchaKey(id));
  return expected !== null && expected === answer.trim().toLowerCase();
}

const captchaKey = (id: string): string => key('captcha', id);
