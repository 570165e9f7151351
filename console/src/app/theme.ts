// The theme of the component library: accessible contrasts in light and dark, calm surfaces.
import { theme, type ThemeConfig } from 'antd';

/** Whether the reader asked for less motion. page.css stills what the component library moves in spite of it. */
export const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;

const shared = {
  borderRadius: 8,
  fontFamily:
    "system-ui, -apple-system, 'Segoe UI', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif",
  // The rest of the page is styled by page.css.
  motion: !isStill,
};

export const light: ThemeConfig = {
  algorithm: theme.defaultAlgorithm,
  token: {
    ...shared,
    colorPrimary: '#0958d9',
    colorPrimaryHover: '#2470e0',
    // Of rows that are selected.
    controlItemBgActiveHover: '#d2e9ff',
    colorLink: '#0958d9',
    colorLinkHover: '#003eb3',
    colorLinkActive: '#003eb3',
    colorError: '#cf1322',
    colorWarning: '#955700',
    colorWarningBg: '#fff7e6',
    colorWarningBorder: '#ffd591',
    colorSuccess: '#237804',
    colorSuccessBg: '#eaf7e4',
    colorSuccessBorder: '#a3d694',
    colorTextPlaceholder: '#6b7280',
    colorTextTertiary: '#646b78',
    colorTextDescription: '#5b6270',
    colorTextQuaternary: '#6b7280',
    colorTextDisabled: '#6b7280',
    colorBgLayout: '#f5f6f8',
    colorBgSpotlight: '#262b32',
  },
  components: {
    Layout: { siderBg: '#fff', headerBg: '#fff', headerHeight: 48, headerPadding: '0 16px' },
    Table: { headerBg: '#fafbfc', headerColor: '#5b6270' },
    Menu: { itemBorderRadius: 8, activeBarBorderWidth: 0 },
  },
};

export const dark: ThemeConfig = {
  algorithm: theme.darkAlgorithm,
  token: {
    ...shared,
    colorPrimary: '#6ea8ff',
    controlItemBgActive: '#15294a',
    controlItemBgActiveHover: '#1a2f52',
    colorLink: '#86b6ff',
    colorLinkHover: '#b3d1ff',
    colorLinkActive: '#b3d1ff',
    colorError: '#ff8a85',
    colorTextLightSolid: '#0b1a33',
    colorTextPlaceholder: '#9aa1ae',
    colorTextTertiary: '#a3a9b6',
    colorTextDescription: '#a3a9b6',
    colorTextQuaternary: '#9aa1ae',
    colorTextDisabled: '#9aa1ae',
    colorBgBase: '#14161a',
    colorBgLayout: '#101216',
    colorBgContainer: '#181b20',
    colorBgElevated: '#20242a',
    colorBgSpotlight: '#c3cde0',
  },
  components: {
    Layout: { siderBg: '#14161a', headerBg: '#14161a', headerHeight: 48, headerPadding: '0 16px' },
    Table: { headerBg: '#1c2026', headerColor: '#a3a9b6' },
    Menu: {
      itemBorderRadius: 8,
      activeBarBorderWidth: 0,
      itemSelectedBg: '#15294a',
      itemSelectedColor: '#9cc4ff',
    },
  },
};
