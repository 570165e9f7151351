// Stand-ins for modules of the component library: two that write style elements without the answer's nonce (the scroll lock of
// modals and drawers, the measurement of a scroll bar), the filters in the heads of tables, which bring a tree along, and
// their radio buttons, neither of which is used here, and the icon, which reads its name aloud.
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const ours = (name: string): string => fileURLToPath(new URL(`../src/parts/${name}`, import.meta.url));

export function standIns(): Plugin {
  return {
    name: 'stand-ins',
    enforce: 'pre',
    resolveId(source, importer = '') {
      if (importer.includes('antd/es/table/') && source.endsWith('/FilterDropdown'))
        return ours('list/no-column-filter.ts');
      if (importer.includes('antd/es/table/') && source.endsWith('/radio')) return ours('list/no-radio.ts');
      if (source.endsWith('/AntdIconLight')) return ours('show/icon.tsx');
      if (!importer.includes('@rc-component/')) return undefined;
      if (source.endsWith('useScrollLocker')) return ours('show/scroll-lock.ts');
      return /getScrollBarSize$/.test(source) ? ours('show/scroll-bar-size.ts') : undefined;
    },
  };
}
