// Captchas: an image, and an answer in Redis that the first check consumes. An image has letters of one font,
// each turned, slanted, sized and placed at random so that neighbours overlap, crossed by lines and cut by
// lines of the background colour. The sign-in limits protect accounts; this only costs a script time.
import { randomInt } from 'node:crypto';
import { createRequire } from 'node:module';
import { config } from '../../../config/index.js';
import { randomToken } from '../secrets/random-id.js';
import { key, patientRedis } from '../redis/redis.js';

/** Loads the renderer (0.1 s); the start does not wait for it. */
export const loadRenderer = () => import('@resvg/resvg-js');

/**
 * Draws a new captcha and stores its answer for two minutes.
 *
 * @returns its id and a PNG as data URI
 * @throws when Redis is unavailable
 */
export async function createCaptcha(): Promise<{ id: string; image: string }> {
  const text = times(length, () => characters.charAt(randomInt(characters.length))).join('');
  const png = await render(partsOf(text));
  const id = randomToken(16);
  await patientRedis.set(captchaKey(id), text.toLowerCase(), 'EX', config.auth.captchaTtlSeconds);
  return { id, image: `data:image/png;base64,${png.toString('base64')}` };
}

/** Checks an answer, ignoring case, and consumes the captcha in either case. @throws when Redis is unavailable */
export async function consumeCaptcha(id: string, answer: string): Promise<boolean> {
  const expected = await patientRedis.getdel(captchaKey(id));
  return expected !== null && expected === answer.trim().toLowerCase();
}

const captchaKey = (id: string): string => key('captcha', id);

/**
 * Characters that stay distinct when turned, crossed and cut: no 0 O Q, 1 I l i J, 2 Z, 5 S, 6 b G, 8 B, 9 g q,
 * c, U V u v, h n, r t y k.
 */
const characters = '34679ADEFHKMNPRTWXYade';

const fontFile = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf');

const [width, height] = [240, 80];
const [length, step] = [5, 38];
const ground = '#f4f4f4';

function partsOf(text: string): string[] {
  const ink = `hsl(${randomInt(360)},${randomInt(45, 91)}%,${randomInt(18, 33)}%)`;
  const left = within(24, 30);
  return [
    ...[...text].map((letter, at) => letterAt(letter, ink, left + at * step)),
    ...times(2, () => wave(ground, within(1.2, 1.7))),
    ...times(3, () => wave(ink, within(1.6, 2.4))),
  ];
}

/**
 * Renders parts of an SVG on the background. Not in the renderer's own thread: its pending tasks crash a worker thread
 * that exits.
 */
async function render(parts: readonly string[]): Promise<Buffer> {
  const { Resvg } = await loadRenderer();
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="DejaVu Sans"
    font-weight="bold" text-anchor="middle"><rect width="100%" height="100%" fill="${ground}"/>${parts.join('')}</svg>`;
  return new Resvg(svg, { font: { fontFiles: [fontFile], loadSystemFonts: false } }).render().asPng();
}

function letterAt(letter: string, ink: string, x: number): string {
  const place = `translate(${x + within(-4, 4)},${height / 2 + within(-9, 9)})`;
  const form = `rotate(${within(-32, 32)}) skewX(${within(-16, 16)})`;
  const size = within(48, 58);
  return `<text transform="${place} ${form}" y="${size * 0.36}" font-size="${size}" fill="${ink}">${letter}</text>`;
}

// A curve from edge to edge through the letters.
function wave(colour: string, thickness: number): string {
  const y = (): number => within(12, height - 12);
  const path = `M0,${y()} C${width * 0.2},${y()} ${width * 0.35},${y()} ${width / 2},${y()} S${width * 0.8},${y()} ${width},${y()}`;
  return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${thickness}"/>`;
}

/** A random number in the range. Not Math.random, whose sequence can be predicted. */
const within = (from: number, to: number): number => from + ((to - from) * randomInt(1_000_001)) / 1_000_000;

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);
