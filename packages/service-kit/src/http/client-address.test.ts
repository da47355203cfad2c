import { isLoopback, networkOf } from './client-address.ts';

describe('isLoopback', () => {
  it.each(['localhost', 'LocalHost', '127.0.0.1', '127.8.9.10', '::1', '[::1]', '::ffff:127.0.0.1'])(
    'takes %s',
    (host) => {
      expect(isLoopback(host)).toBe(true);
    },
  );

  it.each([
    '',
    'unknown',
    'localhost.evil.test',
    '127.0.0.1.evil.test',
    '10.0.0.1',
    '::ffff:10.0.0.1',
    '0.0.0.0',
    '128.0.0.1',
  ])('does not take %j', (host) => {
    expect(isLoopback(host)).toBe(false);
  });
});

describe('networkOf', () => {
  it.each([
    ['198.51.100.7', '198.51.100'],
    ['::ffff:198.51.100.9', '198.51.100'],
    ['2001:db8:1:2::3', '2001:db8:1'],
    ['2001:db8:1::', '2001:db8:1'],
    ['2001:DB8::1', '2001:db8:0'],
    ['::1', '0:0:0'],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
