// Captchas: an image, and an answer in Redis that the first check consumes.
import { config } from '../../../config/index.js';
import { randomToken } from '../secrets/random-id.js';
import { key, patientRedis } from '../redis/redis.js';

/** Loads the renderer (0.1 s); the start does not wait for it. */
export const loadDrawing = () => import('./picture.js');

/**
 * Draws a new captcha and stores its answer for two minutes.
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

/**
 * Checks an answer, ignoring case, and consumes the captcha in either case.
 *
 * @throws when Redis is unavailable
 */
export async function consumeCaptcha(id: string, answer: string): Promise<boolean> {
  const expected = await patientRedis.getdel(captchaKey(id));
  return expected !== null && expected === answer.trim().toLowerCase();
}

const captchaKey = (id: string): string => key('captcha', id);
