// The part of opentype.js that is used; @types/opentype.js would declare a browser's globals everywhere.
declare module 'opentype.js' {
  export type PathCommand =
    | { type: 'M' | 'L'; x: number; y: number }
    | { type: 'Q'; x1: number; y1: number; x: number; y: number }
    | { type: 'C'; x1: number; y1: number; x2: number; y2: number; x: number; y: number }
    | { type: 'Z' };

  export interface Font {
    unitsPerEm: number;
    charToGlyph(character: string): {
      getPath(x: number, y: number, size: number): { commands: PathCommand[] };
    };
  }

  const opentype: { parse(file: ArrayBuffer): Font };
  export default opentype;
}
