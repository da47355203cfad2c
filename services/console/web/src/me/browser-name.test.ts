import { browserName } from './browser-name.ts';

describe('the name of a browser', () => {
  it.each([
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0 Safari/537.36',
      'Chrome · Linux',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0 Safari/537.36 Edg/156.0',
      'Edge · Windows',
    ],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox · macOS'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) Version/18.4 Mobile/15E148 Safari/604.1', 'Safari · iOS'],
    ['Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/156.0 Mobile Safari/537.36', 'Chrome · Android'],
  ])('is found in %s', (userAgent, name) => {
    expect(browserName(userAgent)).toBe(name);
  });

  it('is not known of a program, or when nothing was said', () => {
    expect(browserName('curl/8.5.0')).toBeUndefined();
    expect(browserName(null)).toBeUndefined();
  });
});
