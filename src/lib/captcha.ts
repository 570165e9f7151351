// Captchas: an image for people, an answer in Redis that is used up by the first look at it.
import { config } from '../../config/index.js';
import { randomToken } from './random-id.js';
import { key, patientRedis } from './redis.js';

/** Reads the fonts and the renderer, a tenth of a second of work; what starts need not wait for it. */
export const loadDrawing = () => import('./captcha-picture.js');

/**
 * Draws a new captcha and keeps its answer for CAPTCHA_TTL_SECONDS.
 *
 * @returns its id and a PNG as data URI
 * @throws when Redis is unavailable
 */
export async function createCaptcha(): Promise<{ id: string; image: string }> {
  const { drawCaptcha } = await loadDrawing();
  const { text, png } = drawCaptcha();
  const id = randomToken(16);
  await patientRedis.set(captchaKey(id), text, 'EX', config.auth.captchaTtlSeconds);
  return { id, image: `data:image/png;base64,${png.toString('base64')}` };
}

/** Checks an answer, ignoring case, and uses the captcha up whether it is right or wrong. @throws when Redis is unavailable */
export async function consumeCaptcha(id: string, answer: string): Promise<boolean> {
  const expected = await patientRedis.getdel(captchaKey(id));
  return expected !== null && expected === answer.trim().toLowerCase();
}

const captchaKey = (id: string): string => key('captcha', id);
