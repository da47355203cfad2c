import { isRegistered, outOfBandUri, readRedirectUris, redirectUriProblem, withParameters } from './redirect-uris.ts';

describe('redirectUriProblem', () => {
  it.each([
    'https://app.example/cb',
    'https://app.example:8443/cb?x=1',
    'https://APP.example?x=1',
    'https://[2001:db8::1]:8443/cb',
    'http://127.0.0.1/cb',
    'http://127.0.0.1:9000',
    'http://[::1]:9000/cb',
    'http://localhost:3000/cb',
    'com.example.app:/callback',
    outOfBandUri,
  ])('lets %s be registered', (uri) => {
    expect(redirectUriProblem(uri)).toBeUndefined();
  });

  it.each([
    'http://app.example/cb',
    'http://127.0.0.1.evil.test/cb',
    'http://localhost.evil.test/',
    'http://127.0.0.1:9000@evil.test/',
    'https://app.example/cb#',
    'https://@app.example/',
    'https://app.example/a/%2E%2e/b',
    'https://app.example/./b',
    'https:\\\\app.example\\cb',
    'https://*.app.example/',
    'https://app.example/ü',
    'https://app.example/a b',
    'https:app.example/cb',
    'https:/app.example/cb',
    'https:///app.example/cb',
    'https://app.example;frame-ancestors/cb',
    'https://app.example,x/cb',
    "https://app'x.example/cb",
    'https://app.example:99999/cb',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'myapp://callback',
    '/relative',
    '',
    `https://app.example/${'x'.repeat(2_000)}`,
  ])('refuses %s', (uri) => {
    expect(redirectUriProblem(uri)).toBeDefined();
  });
});

describe('readRedirectUris', () => {
  it('reads one per line, each once', () => {
    expect(readRedirectUris(' https://a.example/ \r\n\nhttps://b.example/\nhttps://a.example/')).toEqual({
      text: 'https://a.example/\nhttps://b.example/',
      problems: [],
    });
  });

  it('names every problem, and how many are too many', () => {
    expect(readRedirectUris('x\ny').problems).toHaveLength(2);
    const many = (count: number) => Array.from({ length: count }, (_, i) => `https://a.example/${i}`).join('\n');
    expect(readRedirectUris(many(20)).problems).toEqual([]);
    expect(readRedirectUris(many(21)).problems).toHaveLength(1);
  });
});

describe('isRegistered', () => {
  const registered = 'https://app.example/cb\nhttp://127.0.0.1:9000/cb?x=1';

  it('compares the text as it stands', () => {
    expect(isRegistered(registered, 'https://app.example/cb')).toBe(true);
    for (const uri of ['https://app.example/cb/', 'https://APP.example/cb', 'https://app.example:443/cb', '', 'cb'])
      expect(isRegistered(registered, uri)).toBe(false);
    expect(isRegistered('', '')).toBe(false);
  });

  it('lets the port of a loopback address vary, and nothing else of it', () => {
    expect(isRegistered(registered, 'http://127.0.0.1:1/cb?x=1')).toBe(true);
    expect(isRegistered(registered, 'http://127.0.0.1/cb?x=1')).toBe(true);
    for (const uri of [
      'http://127.0.0.1:1/cb',
      'http://localhost:9000/cb?x=1',
      'https://127.0.0.1:9000/cb?x=1',
      'http://127.0.0.1:1@evil.test/cb?x=1',
      'http://127.0.0.1:65536/cb?x=1',
    ])
      expect(isRegistered(registered, uri)).toBe(false);
  });
});

describe('withParameters', () => {
  it('adds to whatever query there is, encoded', () => {
    expect(withParameters('https://a.example/', { code: 'x', state: 'a\r\n&b' })).toBe(
      'https://a.example/?code=x&state=a%0D%0A%26b',
    );
    expect(withParameters('https://a.example/?y=1', { code: 'x' })).toBe('https://a.example/?y=1&code=x');
  });
});
