import { createFinder, describeLeaks, formsOf } from './secret-finder.ts';

describe('the search for secrets in logs', () => {
  const secret = 'p&ss "w/ö+rd\\ 1';
  const find = createFinder([
    { kind: 'a password', value: secret },
    { kind: 'a client secret', value: 'abcdefgh-ijklmnop' },
    { kind: 'too short to recognise', value: 'info' },
    { kind: 'an access token', value: 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLW9mLWl0' },
  ]);

  it.each(formsOf(secret))('finds a secret as %s', (form) => {
    expect(find(`{"level":"info","msg":"before ${form} after"}\n`)).toMatchObject([{ kind: 'a password', line: 1 }]);
  });

  it('knows the encodings of addresses, forms, JSON, pages and headers', () => {
    expect(formsOf(secret)).toEqual([
      'p&ss "w/ö+rd\\ 1',
      'p%26ss%20%22w%2F%C3%B6%2Brd%5C%201',
      'p%26ss+%22w%2F%C3%B6%2Brd%5C+1',
      'p&ss \\"w/ö+rd\\\\ 1',
      'p&amp;ss &quot;w/ö+rd\\ 1',
      Buffer.from(secret).toString('base64').replace(/=+$/, ''),
      Buffer.from(secret).toString('base64url'),
      Buffer.from(secret).toString('hex'),
    ]);
  });

  it('reports the line, and shows the text around the secret without it', () => {
    const log = 'first\nsecond\n{"a":1,"secret":"abcdefgh-ijklmnop","b":2}\nabcdefgh-ijklmnop';
    expect(find(log)).toEqual([
      { kind: 'a client secret', line: 3, text: '{"a":1,"secret":"[here]","b":2}' },
      { kind: 'a client secret', line: 4, text: '[here]' },
    ]);
  });

  it('finds a token by its signature, and unknown tokens, keys and hashes by their shape', () => {
    expect(find('x c2lnbmF0dXJlLW9mLWl0 y')).toMatchObject([{ kind: 'an access token' }]);
    const unknown = [
      'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIyIn0.YW5vdGhlci1vbmU',
      'postgres://almanac:hunter2@db/x',
      '$argon2id$v=19$m=19456$abc',
      '{"kty":"OKP","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}',
      '-----BEGIN PRIVATE KEY-----',
    ];
    for (const text of unknown) expect(find(`x ${text} y`)).toHaveLength(1);
  });

  it('finds nothing where there is nothing', () => {
    const line = '{"level":"info","path":"/oauth/token","url":"amqp://[redacted]@host","msg":"abcdefgh-ijklmno"}\n';
    expect(find(line.repeat(1_000))).toEqual([]);
    expect(find('cut off: abcdefgh-ijk')).toEqual([]);
    expect(createFinder([])('')).toEqual([]);
  });

  it('reports many of a kind once', () => {
    const leaks = find('abcdefgh-ijklmnop\nabcdefgh-ijklmnop').map((leak) => ({ ...leak, place: 'identity.log' }));
    expect(describeLeaks(leaks)).toBe('  identity.log: a client secret, line 1 and 1 more\n      [here]');
  });
});
