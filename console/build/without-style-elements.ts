// Stand-ins for two modules of the component library that write style elements without the answer's nonce: the scroll lock
// of modals and drawers, and the measurement of a scroll bar.
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const ours = (name: string): string => fileURLToPath(new URL(`../src/parts/${name}`, import.meta.url));

export function withoutStyleElements(): Plugin {
  return {
    name: 'without-style-elements',
    enforce: 'pre',
    resolveId(source, importer = '') {
      if (!importer.includes('@rc-component/')) return undefined;
      if (source.endsWith('useScrollLocker')) return ours('scroll-lock.ts');
      return /getScrollBarSize$/.test(source) ? ours('scroll-bar-size.ts') : undefined;
    },
  };
}
