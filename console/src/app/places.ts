// Screens that two keys open: g, and one of these.
import type { Both } from '../contract/texts.ts';
import { opens, type Profile } from '../parts/show/profile.ts';
import { addressOf, screens } from './screens.ts';

const slugs: readonly (readonly [key: string, slug: string])[] = [
  ['d', 'dashboard'],
  ['o', 'orders'],
  ['p', 'payments'],
  ['u', 'users'],
];

/** Those that the administrator may open, by key. */
export const placesOf = (profile: Profile): ReadonlyMap<string, { address: string; title: Both }> =>
  new Map(
    slugs.flatMap(([key, slug]) => {
      const screen = screens.get(slug);
      if (!screen || !opens(profile, screen.opens)) return [];
      return [[key, { address: addressOf(slug, screen), title: screen.title }] as const];
    }),
  );
