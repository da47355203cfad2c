import { isAllowedByOperator, isReachable, readNetworks } from './address-rules.ts';

const none = readNetworks('') as NonNullable<ReturnType<typeof readNetworks>>;

describe('a webhook', () => {
  it.each([
    ['unspecified', '0.0.0.0'],
    ['unspecified', '::'],
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['loopback', '::1'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['unique local', 'fd00:ec2::254'],
    ['unique local', 'fc00::1'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['carrier-grade NAT', '100.100.100.200'],
    ['link-local', '169.254.169.254'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['site-local', 'fec0::1'],
    ['metadata', '168.63.129.16'],
    ['metadata', '192.0.0.192'],
    ['multicast', '224.0.0.1'],
    ['multicast', 'ff02::1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['documentation', '192.0.2.1'],
    ['documentation', '198.51.100.1'],
    ['documentation', '203.0.113.1'],
    ['documentation', '2001:db8::1'],
    ['documentation', '3fff::1'],
    ['benchmarks', '198.18.0.1'],
    ['IPv4-mapped', '::ffff:127.0.0.1'],
    ['IPv4-mapped, even of a public one', '::ffff:8.8.8.8'],
    ['IPv4-compatible', '::127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['local NAT64', '64:ff9b:1::7f00:1'],
    ['6to4', '2002:7f00:1::1'],
    ['Teredo', '2001::1'],
    ['no address', 'localhost'],
    ['no address', ''],
  ])('reaches no %s address: %s', (_, address) => {
    expect(isReachable(address, none)).toBe(false);
  });

  it.each(['8.8.8.8', '93.184.215.14', '172.32.0.1', '100.128.0.1', '2a00:1450:4001::1', '2606:4700::1111'])(
    'reaches the public address %s',
    (address) => {
      expect(isReachable(address, none)).toBe(true);
      expect(isAllowedByOperator(address, none)).toBe(false);
    },
  );

  it('reaches the networks that the operator allows, and no neighbours of them', () => {
    const allowed = readNetworks('10.20.0.0/16, fd00:1::/32,127.0.0.1/32') as typeof none;
    const reached = ['10.20.3.4', 'fd00:1::9', '127.0.0.1', '8.8.8.8'];
    const refused = ['10.21.0.1', 'fd00:2::9', '127.0.0.2', '::ffff:10.20.3.4', '169.254.169.254'];
    expect(reached.filter((address) => !isReachable(address, allowed))).toEqual([]);
    expect(refused.filter((address) => isReachable(address, allowed))).toEqual([]);
    expect(isAllowedByOperator('10.20.3.4', allowed)).toBe(true);
    expect(isAllowedByOperator('::ffff:10.20.3.4', allowed)).toBe(false);
  });
});

it.each([
  '10.0.0.0',
  '10.0.0.0/33',
  'fd00::/129',
  'localhost/8',
  '10.0.0.0/8/8',
  '10.0.0.0/-1',
  '10.0.0.0/8; fd00::/8',
])('%s is no list of networks', (text) => expect(readNetworks(text)).toBeUndefined());
