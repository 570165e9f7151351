// Draws captchas: characters of several fonts, randomly turned, slanted and sized, overlapping and bent, crossed by
// coloured lines and cut by lines of the background colour.
import { randomInt } from 'node:crypto';
import { Resvg } from '@resvg/resvg-js';
import { captchaCharacters, captchaFonts, captchaOutlines, type Point } from './glyphs.js';

const [width, height, margin] = [240, 80, 6];
const length = 5;
const ground = '#f4f4f4';

export interface Drawn {
  /** The text on it, in lower case. */
  text: string;
  png: Buffer;
}

/**
 * Draws a new captcha in about 2 ms. Not in the renderer's own thread: its pending tasks crash a worker thread
 * that exits.
 */
export function drawCaptcha(): Drawn {
  const letters = times(length, () => randomInt(captchaCharacters.length));
  const picture = new Resvg(svgOf(letters), { font: { loadSystemFonts: false } }).render();
  const text = letters.map((letter) => captchaCharacters[letter]).join('');
  return { text: text.toLowerCase(), png: picture.asPng() };
}

function svgOf(letters: readonly number[]): string {
  const ink = `hsl(${randomInt(360)},${randomInt(45, 91)}%,${randomInt(18, 33)}%)`;
  const bend = newBend();
  const outlines = placed(letters.map(shaped)).map((line) => line.map(bend));
  const stroke = (color: string, line: readonly Point[], thick: number): string =>
    `<path d="M${points(line)}" fill="none" stroke="${color}" stroke-width="${thick}" stroke-linecap="round"/>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">`,
    `<rect width="100%" height="100%" fill="${ground}"/>`,
    `<path d="${outlines.map((line) => `M${points(line)}Z`).join('')}" fill="${ink}"/>`,
    stroke(ground, wave(), within(1.2, 1.7)),
    ...times(2, () => stroke(ink, wave(), within(1.6, 2.4))),
    ...times(7, () => stroke(ink, dash(), within(1.6, 2.4))),
    '</svg>',
  ].join('');
}

type Lines = Point[][];

// One character in a random font, size, slant and angle.
function shaped(letter: number): Lines {
  const outline = captchaOutlines[randomInt(captchaFonts.length)]?.[letter] ?? [];
  const [size, slant, angle] = [within(33, 44), within(-0.2, 0.2), (within(-26, 26) * Math.PI) / 180];
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return outline.map((line) =>
    line.map(([x, y]): Point => {
      const slanted = x - y * slant;
      return [size * (slanted * cos - y * sin), size * (slanted * sin + y * cos)];
    }),
  );
}

// Each character slightly overlaps the previous one at a random height; the row starts at a random position.
function placed(characters: readonly Lines[]): Lines {
  let end = 0;
  const row = characters.flatMap((lines) => {
    const xs = lines.flat().map(([x]) => x);
    const [left, right] = [Math.min(...xs), Math.max(...xs)];
    const [dx, dy] = [end - left - within(-2.5, 1.5), within(-9, 9)];
    end = right + dx;
    return lines.map((line) => line.map(([x, y]): Point => [x + dx, y + dy]));
  });
  const room = width - 2 * margin;
  const scale = Math.min(1, room / end);
  const start = margin + within(0, room - end * scale);
  return row.map((line) => line.map(([x, y]): Point => [start + x * scale, height / 2 + y]));
}

// Two waves, one along each axis, displace every point.
function newBend(): (point: Point) => Point {
  const [across, along] = [sine(within(1, 2.5), within(26, 44)), sine(within(2, 5), within(60, 120))];
  return ([x, y]) => [x + across(y), y + along(x)];
}

function sine(high: number, period: number): (at: number) => number {
  const phase = within(0, 2 * Math.PI);
  return (at) => high * Math.sin((2 * Math.PI * at) / period + phase);
}

// A line from edge to edge through the writing.
function wave(): Point[] {
  const [from, to, form] = [within(16, 64), within(16, 64), sine(within(4, 12), within(50, 140))];
  return times(41, (step) => {
    const x = (step * width) / 40;
    return [x, from + ((to - from) * x) / width + form(x)];
  });
}

// A short curve that resembles part of a character.
function dash(): Point[] {
  const [x, y, angle, form] = [
    within(10, width - 10),
    within(12, height - 12),
    within(0, 2 * Math.PI),
    sine(2.5, 22),
  ];
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const long = within(8, 18);
  return times(7, (step) => {
    const [along, aside] = [(step * long) / 6, form((step * long) / 6)];
    return [x + along * cos - aside * sin, y + along * sin + aside * cos];
  });
}

const points = (line: readonly Point[]): string =>
  line.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join('L');

/** A random number in the range. Not Math.random, whose sequence can be predicted. */
const within = (from: number, to: number): number => from + ((to - from) * randomInt(1_000_001)) / 1_000_000;

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
