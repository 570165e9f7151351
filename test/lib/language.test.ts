// The language of a request, and texts in it.
import test from 'ava';
import fc from 'fast-check';
import { fill, languageOf, say, type Language } from '../../src/lib/values/language.js';

const supported: Language[] = ['zh-CN', 'en-US'];

test('the supported language of the highest quality is chosen', (t) => {
  const cases: Record<string, Language> = {
    '': 'zh-CN',
    'en-US': 'en-US',
    EN: 'en-US',
    'zh-TW': 'zh-CN',
    'fr, de': 'zh-CN',
    'fr, en;q=0.2': 'en-US',
    'en, zh': 'en-US',
    'zh, en': 'zh-CN',
    'en;q=0.5, zh;q=0.51': 'zh-CN',
    'en;q=0': 'zh-CN',
    'en; Q=0.9 , zh;q=0.8': 'en-US',
    english: 'zh-CN',
    'en;q=abc, zh;q=0.9': 'en-US',
  };
  for (const [header, expected] of Object.entries(cases)) t.is(languageOf(header), expected, header);
  t.is(languageOf(undefined), 'zh-CN');
  fc.assert(fc.property(fc.string(), (header) => supported.includes(languageOf(header))));
});

test('texts are filled with their values in the chosen language', (t) => {
  t.is(say({ zh: '好', en: 'good' }, 'en-US'), 'good');
  t.is(say({ zh: '好', en: 'good' }, 'zh-CN'), '好');
  t.is(fill('{count} of {total}, {unknown}', { count: 1, total: '$&' }), '1 of $&, {unknown}');
});
