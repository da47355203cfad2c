import { formTargetOf } from './layout.ts';

describe('formTargetOf', () => {
  it.each([
    ['https://app.example:8443/cb?x', 'https://app.example:8443'],
    ['http://127.0.0.1:9000/cb', 'http://127.0.0.1:9000'],
    ['http://[::1]:9000/cb', 'http:'],
    ['com.example.app:/cb', 'com.example.app:'],
    ['urn:ietf:wg:oauth:2.0:oob', undefined],
  ])('of %s is %s', (uri, target) => {
    expect(formTargetOf(uri)).toBe(target);
  });
});
