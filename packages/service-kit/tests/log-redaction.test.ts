import { runInNewContext } from 'node:vm';
import { createTestDatabase } from '@almanac/testkit/postgres/postgres';
import { ServiceError } from '../src/errors.ts';
import { describeError, isSecretName, loggable } from '../src/observability/log-redaction.ts';
import { createLogger } from '../src/observability/logger.ts';
import { createPool } from '../src/postgres/database.ts';

describe('the name of a property', () => {
  it.each([
    ...[
      'password',
      'new_password',
      'newPassword',
      'client_secret',
      'clientSecret',
      'secrets',
      'access_token',
      'tokens',
    ],
    ...['refreshToken', 'code_verifier', 'code', 'Authorization', 'cookie', 'Set-Cookie', 'csrf', 'X-Amz-Signature'],
    ...['databaseUrl', 'BILLING_DATABASE_URL', 'busUrl', 'objectStoreUrl', 'smtp_url', 'upload_url', 'downloadUrl'],
    ...['contextKey', 'private_key', 'signingKey', 'keyEncryptionKey', 'password_hash', 'digest', 'x-almanac-context'],
  ])('%s is a secret’s', (name) => expect(isSecretName(name)).toBe(true));

  it.each([
    ...[
      'key',
      'table_definition_key',
      'access_token_id',
      'token_type',
      'request_id',
      'code_challenge',
      'correlation_code',
    ],
    ...['passwordless', 'secretary', 'status_code', 'url', 'family_id', 'account_id'],
  ])('%s is not', (name) => expect(isSecretName(name)).toBe(false));
});

describe('what may be logged of a value', () => {
  it('contains no secret at any depth, but what only describes one', () => {
    const deep = { a: [{ b: { body: { client_secret: 's3cret', tokens: ['s3cret'], secrets: { x: 's3cret' } } } }] };
    const logged = loggable({ ...deep, tokens: 3, password: null, code: 's3cret' });
    expect(JSON.stringify(logged)).not.toContain('s3cret');
    expect(logged).toMatchObject({ tokens: 3, password: null, code: '[redacted]' });
  });

  it('is cut at a length and a depth, and ends at circular references', () => {
    const circle: Record<string, unknown> = {
      text: 'x'.repeat(1_000_000),
      list: Array.from({ length: 5_000 }, String),
    };
    circle.self = circle;
    expect(JSON.stringify(loggable(circle)).length).toBeLessThan(30_000);
    expect(loggable('x'.repeat(2_001))).toBe(`${'x'.repeat(2_000)}… (1 more)`);
  });

  it('shows no bytes and no members of class instances', () => {
    class Metadata {
      readonly internal = 's3cret';
    }
    const logged = loggable({ bytes: Buffer.from('s3cret'), metadata: new Metadata(), at: new Date(0), big: 12n });
    expect(logged).toEqual({ bytes: '[6 bytes]', metadata: '[Metadata]', at: '1970-01-01T00:00:00.000Z', big: '12' });
  });
});

describe('what is logged of an error', () => {
  it('has the place and the reason of the failure, but no data', () => {
    const cause = Object.assign(new TypeError('Invalid URL'), {
      code: 'ERR_INVALID_URL',
      input: 'amqp://u:s3cret@host',
    });
    const request = { headers: { authorization: 's3cret' } };
    const error = Object.assign(new Error('refused', { cause }), { code: 'ECONNREFUSED', port: 5432, request });
    const logged = describeError(error);
    expect(logged).toMatchObject({
      type: 'Error',
      message: 'refused',
      code: 'ECONNREFUSED',
      port: 5432,
      cause: { type: 'TypeError', code: 'ERR_INVALID_URL' },
      stack: expect.stringMatching(/^at .*log-redaction\.test\.ts/),
    });
    expect(JSON.stringify(logged)).not.toContain('s3cret');
  });

  it('quotes nothing of a text that was not JSON', () => {
    const parse = () => JSON.parse('{"access_token": s3cret}');
    expect(parse).toThrow('s3cret');
    const error = catchError(parse);
    expect(describeError(error).message).toBe(`Unexpected token 's', ..."…" is not valid JSON`);
  });

  it('recognises errors of another realm', () => {
    const foreign = runInNewContext("new RangeError('far', { cause: new TypeError('farther') })");
    expect(loggable({ foreign })).toMatchObject({
      foreign: { type: 'RangeError', message: 'far', cause: { type: 'TypeError', message: 'farther' } },
    });
  });

  it('has all causes and parts, and ends at circular ones', () => {
    const loop = new Error('loop');
    loop.cause = loop;
    const many = new AggregateError([new ServiceError('unavailable', 'one'), loop], 'many');
    expect(describeError(many)).toMatchObject({
      message: 'many',
      errors: [
        { message: 'one', kind: 'unavailable' },
        { message: 'loop', cause: { message: 'loop' } },
      ],
    });
  });

  it('quotes no row and no value of a database', async () => {
    const database = await createTestDatabase('log_values');
    const pool = createPool({ url: database.url, name: 'test', logger: createLogger('test', 'silent') });
    try {
      await pool.query(
        'create table person (id int not null, password_hash text, name text not null, unique (password_hash))',
      );
      await pool.query("insert into person values (1, 's3cret', 'one')");
      const failures = [
        ["insert into person values (2, 's3cret', null)", [], '23502'],
        ["insert into person values (2, 's3cret', 'two')", [], '23505'],
        ['select $1::int', ['s3cret'], '22P02'],
        ["select $1::timestamptz + interval 's3cret'", ['2026-01-01'], '22007'],
      ] as const;
      for (const [text, values, state] of failures) {
        const error = await pool.query(text, [...values]).then(
          () => undefined,
          (failure: Error) => failure,
        );
        const logged = describeError(error as Error);
        expect(logged).toMatchObject({ code: state, sql_state: state, message: expect.any(String) });
        expect(JSON.stringify(logged)).not.toContain('s3cret');
      }
    } finally {
      await pool.end();
      await database.drop();
    }
  });
});

function catchError(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it should have failed');
}
