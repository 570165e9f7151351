// Which addresses of payment companies are asked, by name and by what the name resolves to.
import '../support/environment.js';
import dns, { type LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { ChannelFailure } from '../../src/lib/channels/channel.js';
import { requestGateway, isGatewayUrl } from '../../src/lib/channels/gateway.js';

test('public https addresses are gateways', (t) => {
  for (const url of [
    'https://api.mch.weixin.qq.com',
    'https://openapi-sandbox.dl.alipaydev.com/gateway.do',
    'https://openapi.test:8443/gateway.do',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
  ]) {
    t.true(isGatewayUrl(url), url);
  }
});

test('plain, private, special and disguised addresses are refused', (t) => {
  for (const url of [
    ...['', 'nowhere', '//host/', 'ftp://openapi.test/', 'file:///etc/passwd', 'http://openapi.test/'],
    ...['https://user:word@openapi.test/', 'https://localhost/', 'https://db/', 'https://a.localhost/'],
    ...['https://metadata.google.internal/', 'https://printer.local/', 'https://LOCALHOST.localdomain./'],
    ...['https://127.0.0.1/', 'https://127.1/', 'https://2130706433/', 'https://0x7f.0.0.1/', 'https://0/'],
    ...['https://10.0.0.1/', 'https://172.16.0.1/', 'https://192.168.1.1/', 'https://100.64.0.1/'],
    ...['https://169.254.169.254/', 'https://100.100.100.200/', 'https://168.63.129.16/', 'https://0.0.0.0/'],
    ...['https://224.0.0.1/', 'https://255.255.255.255/', 'https://192.0.2.1/', 'https://198.18.0.1/'],
    ...['https://[::1]/', 'https://[::]/', 'https://[fe80::1]/', 'https://[fd00:ec2::254]/'],
    ...['https://[::127.0.0.1]/', 'https://[100:0:0:1::1]/', 'https://[4000::1]/'],
    ...['https://[::ffff:127.0.0.1]/', 'https://[::ffff:a9fe:a9fe]/', 'https://[64:ff9b::7f00:1]/'],
    ...[
      'https://１２７.0.0.1/',
      'https://openapi.test/\r\nX: y',
      ' https://openapi.test/',
      'https://open\tapi.test/',
    ],
  ]) {
    t.false(isGatewayUrl(url), url);
  }
});

test.serial('a name that resolves to a private address is refused', async (t) => {
  let connections = 0;
  const server = createServer().listen(0, '127.0.0.1');
  server.on('connection', () => connections++);
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  for (const host of ['localhost', '127.0.0.1', '[::1]']) {
    const url = new URL(`https://${host}:${port}/`);
    const error = await t.throwsAsync(
      requestGateway(url, { method: 'GET', headers: {} }, AbortSignal.timeout(5000)),
    );
    t.true(error instanceof ChannelFailure);
    t.regex(error?.message ?? '', /is not public/, host);
  }
  t.is(connections, 0);
});

test.serial('a name is refused if one of its addresses is private', async (t) => {
  const { lookup } = dns;
  const resolvingTo = (found: unknown) => {
    dns.lookup = found as typeof lookup;
    syncBuiltinESMExports();
  };
  t.teardown(() => resolvingTo(lookup));
  const [open, closed] = [
    { address: '8.8.8.8', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ];
  for (const addresses of [
    [open, closed],
    [closed, open],
  ]) {
    const found = (_: string, __: unknown, done: (error: null, all: LookupAddress[]) => void) =>
      done(null, addresses);
    resolvingTo(found);
    const request = { method: 'GET' as const, headers: {} };
    const asked = requestGateway(new URL('https://mixed.test/'), request, AbortSignal.timeout(5000));
    t.regex((await t.throwsAsync(asked))?.message ?? '', /is not public/);
  }
});
