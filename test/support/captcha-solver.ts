// A reader of captchas as anybody could write one: it takes thin lines away, cuts the picture into five and compares each
// piece with the characters of the same font, upright and turned.
import { Resvg } from '@resvg/resvg-js';
import { captchaCharacters, render } from '../../src/lib/captcha/picture.js';

interface Mask {
  width: number;
  height: number;
  ink: Uint8Array;
}

interface Template {
  character: string;
  cells: Uint8Array;
}

const [columns, rows] = [20, 28];
/** Nothing here is text; looking through the fonts of the system takes twenty milliseconds a picture. */
const withoutText = { font: { loadSystemFonts: false } };

/** One picture with these characters beside each other as the font has them: no turn, no line. */
export const uprightPicture = (text: string): Buffer =>
  render([...text].map((character, place) => letterOf(character, 0, 30 + place * 45)));

/** @param turns angles in degrees under which each character is tried @returns what it reads, in lower case */
export function makeSolver(turns: readonly number[]): (png: Buffer) => string {
  const templates = [...captchaCharacters].flatMap((character) =>
    turns.map((turn): Template => {
      const mask = maskOf(render([letterOf(character, turn, 120)]));
      return { character: character.toLowerCase(), cells: cellsOf(mask, 0, mask.width) };
    }),
  );
  return (png) => {
    const mask = withoutThinLines(maskOf(png));
    return segmentsOf(mask)
      .map(([from, to]) => nearest(cellsOf(mask, from, to), templates))
      .join('');
  };
}

const letterOf = (character: string, turn: number, x: number): string =>
  `<text transform="translate(${x},40) rotate(${turn})" y="18" font-size="48">${character}</text>`;

// Ink is what is nearer to the darkest point than to the ground.
function maskOf(png: Buffer): Mask {
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><image width="${width}" height="${height}" href="data:image/png;base64,${png.toString('base64')}"/></svg>`;
  const { pixels } = new Resvg(svg, withoutText).render();
  const light = new Uint16Array(width * height);
  for (let at = 0; at < light.length; at++)
    light[at] = (pixels[at * 4] ?? 0) + (pixels[at * 4 + 1] ?? 0) + (pixels[at * 4 + 2] ?? 0);
  const border = (light.reduce((least, value) => Math.min(least, value), 765) + 3 * 0xf4) / 2;
  return { width, height, ink: Uint8Array.from(light, (value) => (value < border ? 1 : 0)) };
}

// Morphological opening: what is narrower than three pixels vanishes, the rest keeps its form.
function withoutThinLines(mask: Mask): Mask {
  return spread(spread(mask, 0), 1);
}

function spread({ width, height, ink }: Mask, value: 0 | 1): Mask {
  const out = Uint8Array.from(ink);
  for (let y = 1; y < height - 1; y++) {
    for (let x = 1; x < width - 1; x++) {
      const at = y * width + x;
      if (ink[at - 1] === value || ink[at + 1] === value) out[at] = value;
      else if (ink[at - width] === value || ink[at + width] === value) out[at] = value;
    }
  }
  return { width, height, ink: out };
}

// The five widest runs of columns with ink; where fewer are found, the writing is cut into five of one width.
function segmentsOf({ width, height, ink }: Mask): [from: number, to: number][] {
  const runs: [number, number][] = [];
  let from = -1;
  for (let x = 0; x <= width; x++) {
    let count = 0;
    for (let y = 0; x < width && y < height; y++) count += ink[y * width + x] ?? 0;
    if (count > 1 && from < 0) from = x;
    if (count <= 1 && from >= 0) {
      if (x - from > 4) runs.push([from, x]);
      from = -1;
    }
  }
  while (runs.length > 0 && runs.length < 5) {
    const widest = runs.reduce((best, run, index) => (long(run) > long(runs[best] ?? run) ? index : best), 0);
    const [start, end] = runs[widest] as [number, number];
    const parts = Math.max(2, Math.min(6 - runs.length, Math.round((end - start) / 36)));
    const cut = Array.from({ length: parts }, (_, part): [number, number] => [
      Math.round(start + ((end - start) * part) / parts),
      Math.round(start + ((end - start) * (part + 1)) / parts),
    ]);
    runs.splice(widest, 1, ...cut);
  }
  const widest = [...runs].sort((one, other) => long(other) - long(one)).slice(0, 5);
  return runs.filter((run) => widest.includes(run));
}

const long = ([from, to]: readonly [number, number]): number => to - from;

// The ink between two columns, drawn into a small grid from edge to edge.
function cellsOf({ width, height, ink }: Mask, from: number, to: number): Uint8Array {
  let [left, right, top, bottom] = [to, from, height, 0];
  for (let y = 0; y < height; y++) {
    for (let x = from; x < to; x++) {
      if (!ink[y * width + x]) continue;
      [left, right] = [Math.min(left, x), Math.max(right, x)];
      [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
    }
  }
  return Uint8Array.from({ length: columns * rows }, (_, cell) => {
    const x = left + Math.floor((((cell % columns) + 0.5) * (right - left + 1)) / columns);
    const y = top + Math.floor(((Math.floor(cell / columns) + 0.5) * (bottom - top + 1)) / rows);
    return ink[y * width + x] ?? 0;
  });
}

function nearest(cells: Uint8Array, templates: readonly Template[]): string {
  let [best, least] = ['', Infinity];
  for (const { character, cells: other } of templates) {
    let wrong = 0;
    for (let cell = 0; cell < cells.length && wrong < least; cell++) if (cells[cell] !== other[cell]) wrong++;
    if (wrong < least) [best, least] = [character, wrong];
  }
  return best;
}
