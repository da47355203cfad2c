import { networkOf } from './throttle.ts';

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
