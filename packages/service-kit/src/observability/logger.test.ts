import { createAccessLogger, createLogger } from './logger.ts';

describe('a log line', () => {
  const lines: string[] = [];
  const logger = createLogger('test', 'info', { write: (line) => void lines.push(line) });
  const access = createAccessLogger(logger);
  const written = (log: () => void) => {
    lines.length = 0;
    log();
    expect(lines.join('').trimEnd().split('\n')).toHaveLength(1);
    return JSON.parse(lines.join('')) as Record<string, unknown>;
  };

  it('shows no secret by name', () => {
    const secrets = { password: 's3cret', authorization: 's3cret', a: [{ b: { refresh_token: 's3cret' } }] };
    expect(JSON.stringify(written(() => logger.info(secrets, 'x')))).not.toContain('s3cret');
    expect(JSON.stringify(written(() => logger.child({ queue: 'q' }).info(secrets, 'x')))).not.toContain('s3cret');
  });

  it('keeps what tells an error', () => {
    const error = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', config: { password: 's3cret' } });
    const expected = { level: 'error', err: { code: 'ECONNREFUSED', message: 'refused' } };
    expect(written(() => logger.error({ err: error }, 'x'))).toMatchObject(expected);
    expect(written(() => logger.error(error))).toMatchObject({ ...expected, msg: 'refused' });
    expect(lines.join('')).not.toContain('s3cret');
  });

  it.each([
    ['a JSON Web Token', 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.s3cret_-9', 's3cret'],
    ['a header', 'Authorization: Bearer s3cret-of-a-client', 's3cret'],
    ['a header of credentials', 'Basic czNjcmV0OnMzY3JldA==', 'czNjcmV0'],
    ['a URL with a password', 'connect to amqp://almanac:s3cret@broker:5672/x failed', 's3cret'],
    ['a URL with a password alone', 'redis://:s3cret@cache', 's3cret'],
    ['a mailed link', '/oauth/password?token=s3cret&x=1', 's3cret'],
    ['a callback', 'https://client.example/cb?state=1&code=s3cret', 's3cret'],
    ['a signed link', '/files/accounts/1/x?method=GET&signature=s3cret', 's3cret'],
    ['a signed link of S3', 'http://s3/b/k?X-Amz-Credential=s3cret&X-Amz-Signature=s3cret', 's3cret'],
    ['a hash of a password', 'got $argon2id$v=19$m=19456,t=2,p=1$s3cret$s3cret', 's3cret'],
  ])('hides %s in any text, on every way', (_name, text, secret) => {
    const ways = [
      () => logger.info(text),
      () => logger.warn({ text }, 'x'),
      () => logger.error({ err: new Error(text) }, 'x'),
      () => logger.error(new Error(text)),
      () => access.info({ path: text }, 'request'),
    ];
    for (const way of ways) {
      written(way);
      expect(lines.join('')).not.toContain(secret);
    }
  });

  it('is one line of harmless characters, whatever is in it', () => {
    const evil = '/a\r\n{"level":"error"}\u001b[31m\u009b31m\u2028\u202e$' + '{jndi:ldap://x}\ud800';
    for (const way of [() => access.info({ path: evil }, 'request'), () => logger.info({ evil }, evil)]) {
      written(way);
      expect(lines.join('')).toMatch(/^[^\p{Cc}\p{Cf}\u2028\u2029]*\n$/u);
    }
    expect(written(() => access.info({ path: evil }, 'request')).path).toBe(evil);
  });

  it('stays short, however much there is to say', () => {
    written(() => logger.info({ name: 'x'.repeat(1_000_000), list: Array(5_000).fill('x'.repeat(100)) }, 'x'));
    expect(lines.join('').length).toBeLessThan(20_000);
  });
});
