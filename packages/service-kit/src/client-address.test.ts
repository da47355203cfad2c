import { isLoopback } from './client-address.ts';

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
