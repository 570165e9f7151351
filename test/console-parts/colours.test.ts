// Every pair of ink and ground that the console uses can be read: 4.5 to 1, in both themes (WCAG 2.2, 1.4.3).
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import test from 'ava';
import { theme as library, type ThemeConfig } from 'antd';
import { config } from '../../config/index.js';
import { consoleModule } from '../support/console-module.js';

const enough = 4.5;
const themes = await consoleModule<{ light: ThemeConfig; dark: ThemeConfig }>('app/theme.ts');
const styles = ['app/page.css', 'parts/show/parts.css'].map((file) =>
  readFileSync(resolve(config.root, 'console/src', file), 'utf8'),
);

function channels(colour: string): [number, number, number] {
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(colour)?.[1];
  if (!hex) throw new Error(`${colour} is not written as digits`);
  const whole = hex.length === 3 ? hex.replace(/./g, '$&$&') : hex;
  return [0, 2, 4].map((at) => parseInt(whole.slice(at, at + 2), 16)) as [number, number, number];
}

function brightness(colour: string): number {
  const [red, green, blue] = channels(colour).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [low, high] = [brightness(one), brightness(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

test('the contrast formula is that of WCAG', (t) => {
  t.is(contrast('#000000', '#ffffff').toFixed(1), '21.0');
  t.is(contrast('#767676', '#fff').toFixed(2), '4.54');
});

for (const name of ['light', 'dark'] as const) {
  test(`tokens of the library, ${name}`, (t) => {
    const token = library.getDesignToken(themes[name]);
    const inks = [
      ...['colorLinkHover', 'colorLinkActive'],
      ...['colorLink', 'colorError', 'colorTextTertiary', 'colorTextDescription', 'colorTextPlaceholder'],
      ...['colorTextDisabled', 'colorWarning', 'colorSuccess'],
    ] as const;
    const grounds = ['colorBgContainer', 'colorBgElevated'] as const;
    const text = (key: string): string => String((token as unknown as Record<string, unknown>)[key]);
    const onRows = ['colorLink', 'colorTextDescription'] as const;
    const rows = ['controlItemBgActive', 'controlItemBgActiveHover'] as const;
    const weak = [
      ...inks.flatMap((ink) => grounds.map((ground) => [ink, ground] as const)),
      ['colorTextLightSolid', 'colorPrimary'] as const,
      ['colorTextLightSolid', 'colorError'] as const,
      ['colorTextLightSolid', 'colorPrimaryHover'] as const,
      ['colorTextLightSolid', 'colorBgSpotlight'] as const,
      ['colorPrimaryHover', 'colorBgContainer'] as const,
      ...onRows.flatMap((ink) => rows.map((row) => [ink, row] as const)),
    ].filter(([ink, ground]) => contrast(text(ink), text(ground)) < enough);
    t.deepEqual(weak, []);
  });

  test(`own tags and texts, ${name}`, (t) => {
    const [page = '', parts = ''] = styles;
    const pair = String.raw`light-dark\((#\w+), (#\w+)\)`;
    const own = (light = '', dark = ''): string => (name === 'light' ? light : dark);
    const tags = [
      ...parts.matchAll(new RegExp(`\\.tag-(\\w+) \\{\\s*color: ${pair};\\s*background: ${pair};`, 'g')),
    ];
    t.is(tags.length, 5);
    for (const [, tone, ink, darkInk, ground, darkGround] of tags)
      t.true(contrast(own(ink, darkInk), own(ground, darkGround)) >= enough, tone);
    const variables = new Map(
      [...page.matchAll(new RegExp(`--([\\w-]+): ${pair}`, 'g'))].map(([, key, light, dark]) => [
        key,
        own(light, dark),
      ]),
    );
    for (const ink of ['ink', 'ink-soft', 'accent'])
      for (const ground of ['sheet', 'ground'])
        t.true(
          contrast(variables.get(ink) ?? '', variables.get(ground) ?? '') >= enough,
          `${ink} on ${ground}`,
        );
  });
}
