// Outlines of the captcha characters, read once from the fonts of the @fontsource packages.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import opentype, { type PathCommand } from 'opentype.js';

/**
 * Characters that stay distinct when turned, crossed and cut: no 0 O Q, 1 I l i J, 2 Z, 5 S, 6 b G, 8 B, 9 g q,
 * c, U V u v, h n, r t y k.
 */
export const captchaCharacters = [...'34679ADEFHKMNPRTWXYade'];

/** Five kinds of letters: sans serif, serif, slab serif, typewriter, handwriting. All open (OFL, Apache 2.0). */
export const captchaFonts = ['pt-sans', 'pt-serif', 'roboto-slab', 'courier-prime', 'comic-neue'] as const;

export type Point = readonly [x: number, y: number];

/** Closed lines around the centre of the character, one unit high and up to about one unit wide. */
export type Outline = readonly (readonly Point[])[];

/** Each curve or line is divided into this many segments, so that it can be bent. */
const pieces = 4;

const { resolve } = createRequire(import.meta.url);

/** The file of a font's bold letters. */
export const fontFile = (font: string): string =>
  resolve(`@fontsource/${font}/files/${font}-latin-700-normal.woff`);

/** Per font, the outline of each character in the order of `captchaCharacters`. */
export const captchaOutlines: readonly (readonly Outline[])[] = captchaFonts.map((name) => {
  const font = opentype.parse(new Uint8Array(readFileSync(fontFile(name))).buffer);
  const commandsOf = (character: string): PathCommand[] =>
    font.charToGlyph(character).getPath(0, 0, font.unitsPerEm).commands;
  return captchaCharacters.map((character) => centred(toLines(commandsOf(character))));
});

function toLines(commands: PathCommand[]): Point[][] {
  const lines: Point[][] = [];
  let line: Point[] = [];
  for (const command of commands) {
    if (command.type === 'Z') continue;
    if (command.type === 'M') lines.push((line = [[command.x, command.y]]));
    else {
      const from = line.at(-1) as Point;
      for (let piece = 1; piece <= pieces; piece++) line.push(pointAt(from, command, piece / pieces));
    }
  }
  return lines;
}

function pointAt(from: Point, command: Exclude<PathCommand, { type: 'Z' }>, at: number): Point {
  const to: Point = [command.x, command.y];
  if (command.type === 'Q') {
    const control: Point = [command.x1, command.y1];
    return between(between(from, control, at), between(control, to, at), at);
  }
  if (command.type === 'C') {
    const [one, other]: [Point, Point] = [
      [command.x1, command.y1],
      [command.x2, command.y2],
    ];
    const middle = between(one, other, at);
    return between(
      between(between(from, one, at), middle, at),
      between(middle, between(other, to, at), at),
      at,
    );
  }
  return between(from, to, at);
}

function between([x, y]: Point, [toX, toY]: Point, at: number): Point {
  return [x + (toX - x) * at, y + (toY - y) * at];
}

function centred(lines: Point[][]): Outline {
  const [xs, ys] = [lines.flat().map(([x]) => x), lines.flat().map(([, y]) => y)];
  const [left, top, right, bottom] = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  const [x0, y0] = [(left + right) / 2, (top + bottom) / 2];
  const unit = Math.max(bottom - top, (right - left) / 1.15);
  return lines.map((line) => line.map(([x, y]): Point => [(x - x0) / unit, (y - y0) / unit]));
}
