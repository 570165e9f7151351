// Addresses in one canonical form each.
import '../support/environment.js';
import test from 'ava';
import fc from 'fast-check';
import { canonicalIp } from '../../src/lib/values/ip.js';

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

test('octal, hexadecimal, short and foreign forms are not addresses', (t) => {
  const wrong = [
    '',
    '010.0.0.1',
    '0x7f.0.0.1',
    '127.1',
    '2130706433',
    '1.2.3.4.5',
    '256.1.1.1',
    '1.2.3',
    '1.2.3.4/32',
    '1.2.3.4:80',
    ' 1.2.3.4',
    '::1::',
    'localhost',
    '１.2.3.4',
    '[::1]',
  ];
  for (const text of wrong) t.is(canonicalIp(text), undefined, text);
});
