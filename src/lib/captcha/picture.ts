// Draws captchas: letters of one font, each turned, slanted, sized and placed at random so that neighbours overlap, crossed
// by lines and cut by lines of the background colour. The sign-in limits protect accounts; this only costs a script time.
import { randomInt } from 'node:crypto';
import { createRequire } from 'node:module';
import { Resvg } from '@resvg/resvg-js';

/**
 * Characters that stay distinct when turned, crossed and cut: no 0 O Q, 1 I l i J, 2 Z, 5 S, 6 b G, 8 B, 9 g q,
 * c, U V u v, h n, r t y k.
 */
const characters = '34679ADEFHKMNPRTWXYade';

const fontFile = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf');

const [width, height] = [240, 80];
const [length, step] = [5, 38];
const ground = '#f4f4f4';

/** Draws a new captcha. @returns its text in lower case, and a PNG */
export function drawCaptcha(): { text: string; png: Buffer } {
  const letters = times(length, () => characters.charAt(randomInt(characters.length)));
  const ink = `hsl(${randomInt(360)},${randomInt(45, 91)}%,${randomInt(18, 33)}%)`;
  const left = within(24, 30);
  const parts = [
    ...letters.map((letter, at) => letterAt(letter, ink, left + at * step)),
    ...times(2, () => wave(ground, within(1.2, 1.7))),
    ...times(3, () => wave(ink, within(1.6, 2.4))),
  ];
  return { text: letters.join('').toLowerCase(), png: render(parts) };
}

/**
 * Renders parts of an SVG on the background. Not in the renderer's own thread: its pending tasks crash a worker thread
 * that exits.
 */
function render(parts: readonly string[]): Buffer {
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
