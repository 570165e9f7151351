// Addresses and ranges in one canonical form each. What is refused: test/office/blacklists.test.ts.
import '../support/environment.js';
import test from 'ava';
import fc from 'fast-check';
import { canonicalIp } from '../../src/lib/values/ip.js';
import { ipNumber, parseRange } from '../../src/lib/values/ip-range.js';

test('every notation of an address has one canonical form', (t) => {
  const cases: Record<string, string> = {
    '1.2.3.4': '1.2.3.4',
    '::ffff:1.2.3.4': '1.2.3.4',
    '::FFFF:102:304': '1.2.3.4',
    '2001:DB8:0:0:0:0:0:1': '2001:db8::1',
    '2001:db8::0001': '2001:db8::1',
    'fe80::1%eth0': 'fe80::1',
    '::': '::',
  };
  for (const [given, expected] of Object.entries(cases)) t.is(canonicalIp(given), expected, given);
  const octet = fc.nat(255);
  fc.assert(
    fc.property(
      octet,
      octet,
      octet,
      octet,
      (...parts) => canonicalIp(`::ffff:${parts.join('.')}`) === parts.join('.'),
    ),
  );
  fc.assert(fc.property(fc.ipV6(), (ip) => canonicalIp(canonicalIp(ip) ?? '') === canonicalIp(ip)));
});

const address = fc.oneof(fc.ipV4(), fc.ipV6());
// What people write where an end of a range is meant: an address, the last part of one, a name, nothing.
const part = fc.oneof(
  { weight: 3, arbitrary: address },
  fc.constantFrom('', ' ', '50', '0', 'nobody', '*', '113.9', '203.0.113.', '203.0.113.256', '010.0.0.1'),
  fc.string({ maxLength: 8 }).filter((text) => !/[-/%]/.test(text)),
);
const separator = fc.constantFrom('-', ' - ', '- ', ' -', '--', '–', '~', ',', ' ', '..', '\t-\t');

/** Whether addresses between hyphens are a range, decided without reading it as one. */
function isRange(ends: string[]): boolean {
  const [first, last] = [ipNumber(ends[0]?.trim() ?? ''), ipNumber(ends.at(-1)?.trim() ?? '')];
  if (ends.length > 2 || first === undefined || last === undefined || first > last) return false;
  const isV4 = (text: string): boolean => canonicalIp(text.trim())?.includes('.') === true;
  return isV4(ends[0] as string) === isV4(ends.at(-1) as string);
}

test('a range with an invalid end matches nothing', (t) => {
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 3 }),
      fc.array(separator, { minLength: 2, maxLength: 2 }),
      (parts, separators) => {
        // The separator behind the last part is left out.
        const text = parts.map((one, index) => (index === 0 ? '' : separators[index - 1]) + one).join('');
        const range = parseRange(text);
        const ends = text.split('-');
        if (!isRange(ends)) return range === undefined;
        const bounds = [ends[0], ends.at(-1)].map((end) => ipNumber((end as string).trim()));
        return range !== undefined && range.first === bounds[0] && range.last === bounds[1];
      },
    ),
    { numRuns: 2000 },
  );
  t.pass();
});

test('the canonical form of an entry parses to the same entry', (t) => {
  const block = fc.tuple(address, fc.nat(128)).map(([ip, bits]) => `${ip}/${bits}`);
  const range = fc.tuple(address, address).map(([first, last]) => `${first} - ${last}`);
  fc.assert(
    fc.property(fc.oneof(address, block, range), (text) => {
      const read = parseRange(text);
      if (read !== undefined) t.deepEqual(parseRange(read.text), read, text);
    }),
  );
});

test('any text parses to an entry or to none', (t) => {
  const block = fc
    .tuple(part, fc.constantFrom('/', ' /', '/ ', '//'), fc.oneof(fc.nat(140).map(String), part))
    .map((pieces) => pieces.join(''));
  t.notThrows(() => fc.assert(fc.property(fc.oneof(block, fc.string()), (text) => void parseRange(text))));
});
