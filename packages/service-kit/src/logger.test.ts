import { createAccessLogger, createLogger } from './logger.ts';

describe('a log line', () => {
  const lines: string[] = [];
  const logger = createLogger('test', 'info', { write: (line) => void lines.push(line) });
  const written = (log: () => void) => {
    lines.length = 0;
    log();
    return JSON.parse(lines.join('')) as Record<string, unknown>;
  };

  it('shows no secret, wherever it lies near the top', () => {
    const secrets = { password: 's3cret', authorization: 's3cret', refresh_token: 's3cret', code_verifier: 's3cret' };
    const line = written(() =>
      logger.info({ ...secrets, body: { ...secrets, code: 's3cret' }, a: { b: secrets } }, 'x'),
    );
    expect(JSON.stringify(line)).not.toContain('s3cret');
  });

  it('keeps the code that tells an error', () => {
    const error = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    expect(written(() => logger.error({ err: error }, 'x'))).toMatchObject({
      level: 'error',
      err: { code: 'ECONNREFUSED' },
    });
  });

  it('is one line, whatever is in it', () => {
    written(() => createAccessLogger(logger).info({ path: '/a\r\n{"level":"error"}\u001b[31m' }, 'request'));
    expect(lines.join('').trimEnd().split('\n')).toHaveLength(1);
  });
});
