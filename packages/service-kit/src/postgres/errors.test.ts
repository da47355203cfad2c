import { ServiceError } from '../errors.ts';
import { findSqlState, hasSqlState, isMissingTable, isRetryable, isTransient, toPostgresError } from './errors.ts';

const adapterError = (cause: Record<string, unknown>) => ({ code: 'P2010', meta: { driverAdapterError: { cause } } });
const commitError = (cause: Record<string, unknown>) => ({ name: 'DriverAdapterError', cause });
const kindOf = (error: unknown) => {
  const translated = toPostgresError(error);
  return translated instanceof ServiceError ? translated.kind : 'unknown';
};

describe('findSqlState', () => {
  it('reads pg and Prisma errors, and nothing else', () => {
    expect(findSqlState(Object.assign(new Error(), { code: '23503' }))).toBe('23503');
    expect(findSqlState(adapterError({ originalCode: '23505' }))).toBe('23505');
    expect(findSqlState({ code: 'P2034' })).toBe('40001');
    expect(findSqlState({ code: 'P2002' })).toBe('23505');
    expect(findSqlState({ code: 'P2025' })).toBeUndefined();
    expect(findSqlState({ code: 'ECONNREFUSED' })).toBeUndefined();
    expect(findSqlState({ code: 'EPIPE' })).toBeUndefined();
    expect(findSqlState({ code: 'P0001' })).toBe('P0001');
    expect(findSqlState('23505')).toBeUndefined();
  });
});

describe('the predicates', () => {
  it('name the SQLSTATEs of pg and Prisma errors', () => {
    expect(hasSqlState({ code: '23505' }, 'check_violation', 'unique_violation')).toBe(true);
    expect(hasSqlState({ code: 'P2002' }, 'unique_violation')).toBe(true);
    expect(hasSqlState({ code: '23503' }, 'unique_violation')).toBe(false);
    expect(hasSqlState(new Error(), 'unique_violation')).toBe(false);
    expect([{ code: '42P01' }, { code: '3F000' }, { code: '42703' }].map(isMissingTable)).toEqual([true, true, false]);
  });

  it('tell what to retry at once, and what a later round may do', () => {
    const codes = ['40001', '40P01', '55P03', '23505', '42P01', '57014', '42P07', '57P01', '42601'];
    const which = (is: (error: unknown) => boolean) => codes.filter((code) => is({ code }));
    expect(which(isRetryable)).toEqual(['40001', '40P01', '55P03', '23505', '42P01']);
    expect(which(isTransient)).toEqual(['40P01', '55P03', '42P01', '57014', '42P07']);
    expect(isRetryable(new Error()) || isTransient(undefined)).toBe(false);
  });
});

describe('toPostgresError', () => {
  it.each([
    ['a unique violation', { code: '23505' }, 'already_exists'],
    ['a broken rule', { code: '23514' }, 'validation_failed'],
    ['a value out of range', { code: '22003' }, 'validation_failed'],
    ['an answer that is full', { code: '54000', routine: 'repeat' }, 'bad_request'],
    ['a text longer than any', { code: 'XX000', routine: 'MemoryContextSizeFailure' }, 'bad_request'],
    ['a key longer than an index holds', { code: '54000', routine: 'index_form_tuple' }, 'validation_failed'],
    ['a fault inside PostgreSQL', { code: 'XX000', routine: 'cache_lookup' }, 'unknown'],
    ['a full disk', { code: '53100' }, 'unavailable'],
    ['a server that starts', { code: '57P03' }, 'unavailable'],
    ['a statement that took too long', { code: '57014' }, 'unavailable'],
    ['a deadlock', { code: '40P01' }, 'unavailable'],
    ['a refused connection', { code: 'ECONNREFUSED' }, 'unavailable'],
    ['a connection that was closed as we wrote', { code: 'EPIPE', syscall: 'write' }, 'unavailable'],
    ['a socket of the file system that is not there', { code: 'ENOENT', syscall: 'connect' }, 'unavailable'],
    ['a network that is away', { code: 'ENETUNREACH', syscall: 'connect' }, 'unavailable'],
    ['a machine that went while we waited', { code: 'EHOSTUNREACH', syscall: 'read' }, 'unavailable'],
    ['an unknown host name', { code: 'ENOTFOUND', syscall: 'getaddrinfo' }, 'unavailable'],
    ['what ended the connection, whatever it was', { code: 'XX000', severity: 'FATAL' }, 'unavailable'],
    ['the same in Prisma', adapterError({ originalCode: '28000', severity: 'FATAL' }), 'unavailable'],
    ['a disk that fails', { code: '58030', severity: 'ERROR' }, 'unavailable'],
    [
      'a client that broke before',
      new Error('Client has encountered a connection error and is not queryable'),
      'unavailable',
    ],
    ['a client that was given up', new Error('Client was closed and is not queryable'), 'unavailable'],
    ['a value that speaks of connections', { code: '22P02', message: 'Connection terminated' }, 'validation_failed'],
    ['a file that is not there', { code: 'ENOENT', syscall: 'open' }, 'unknown'],
    ['a connection cut under a query', new Error('Connection terminated unexpectedly'), 'unavailable'],
    ['a server that Prisma can not reach', { code: 'P1001' }, 'unavailable'],
    ['a transaction that got no connection in time', { code: 'P2028' }, 'unavailable'],
    ['the same under a raw query', adapterError({ kind: 'DatabaseNotReachable' }), 'unavailable'],
    ['a connection lost at the end of a transaction', commitError({ kind: 'ConnectionClosed' }), 'unavailable'],
    ['a server that stops at the end of a transaction', commitError({ originalCode: '57P01' }), 'unavailable'],
    ['a constraint at the end of a transaction', commitError({ originalCode: '23503' }), 'validation_failed'],
    ['another error with a cause', new Error('x', { cause: { kind: 'ConnectionClosed' } }), 'unknown'],
    ['a mistake of ours', { code: '42703' }, 'unknown'],
    ['what is no error of a database', new TypeError('x is not a function'), 'unknown'],
  ])('translates %s', (_name, error, kind) => {
    expect(kindOf(error)).toBe(kind);
  });
});
