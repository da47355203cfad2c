// The one file that knows PostgreSQL's codes: what an error of the database is, and which kind of
// error it is to a caller. Texts of the database never reach a caller.
import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';

type AdapterCause = { originalCode?: unknown; kind?: unknown; severity?: unknown };
type DatabaseError = {
  code?: unknown;
  syscall?: unknown;
  severity?: unknown;
  routine?: unknown;
  name?: unknown;
  message?: unknown;
  cause?: AdapterCause;
  meta?: { driverAdapterError?: { cause?: AdapterCause } };
};

// The driver adapter's cause. An error at the end of a transaction is the adapter's own; all others
// are wrapped in Prisma's.
const adapterCause = ({ name, cause, meta }: DatabaseError): AdapterCause | undefined =>
  meta?.driverAdapterError?.cause ?? (name === 'DriverAdapterError' ? cause : undefined);

// By PostgreSQL's own names (appendix A of its manual).
const sqlStates = {
  admin_shutdown: '57P01',
  bad_copy_file_format: '22P04',
  cannot_connect_now: '57P03',
  character_not_in_repertoire: '22021',
  check_violation: '23514',
  datatype_mismatch: '42804',
  deadlock_detected: '40P01',
  duplicate_table: '42P07',
  foreign_key_violation: '23503',
  internal_error: 'XX000',
  invalid_catalog_name: '3D000',
  invalid_schema_name: '3F000',
  lock_not_available: '55P03',
  program_limit_exceeded: '54000',
  query_canceled: '57014',
  serialization_failure: '40001',
  string_data_right_truncation: '22001',
  too_many_connections: '53300',
  undefined_column: '42703',
  undefined_object: '42704',
  undefined_table: '42P01',
  unique_violation: '23505',
  untranslatable_character: '22P05',
} as const;

// Prisma's codes that stand for a SQLSTATE; its other codes mean nothing to a caller.
const prismaCodes = new Map<unknown, string>([
  ['P2002', sqlStates.unique_violation],
  ['P2034', sqlStates.serialization_failure],
]);

/** The SQLSTATE of an error of pg or Prisma; undefined when the error is not the database's. */
export function findSqlState(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code } = error as DatabaseError;
  const original = adapterCause(error as DatabaseError)?.originalCode;
  if (typeof original === 'string') return original;
  const known = prismaCodes.get(code);
  if (known) return known;
  return typeof code === 'string' && isSqlState(code) ? code : undefined;
}

// Codes of Prisma and of the operating system (EPIPE) may have five characters too.
const isSqlState = (code: string) => /^[0-9A-Z]{5}$/.test(code) && !/^P[1-9]|^E[A-Z]/.test(code);

type SqlStateName = keyof typeof sqlStates;

/** Whether an error of pg or Prisma has one of these SQLSTATEs. */
export function hasSqlState(error: unknown, ...names: SqlStateName[]): boolean {
  const state = findSqlState(error);
  return names.some((name) => sqlStates[name] === state);
}

// The first two digits are a class, which has a name of its own.
const sqlClasses = {
  data_exception: '22',
  feature_not_supported: '0A',
  integrity_constraint_violation: '23',
  invalid_schema_name: '3F',
  object_not_in_prerequisite_state: '55',
  program_limit_exceeded: '54',
  syntax_error_or_access_rule_violation: '42',
  transaction_rollback: '40',
} as const;

/** Whether an error of pg or Prisma has a SQLSTATE of one of these classes. */
export function hasSqlClass(error: unknown, ...names: (keyof typeof sqlClasses)[]): boolean {
  const found = findSqlState(error)?.slice(0, 2);
  return names.some((name) => sqlClasses[name] === found);
}

/** A unique key is used twice. */
export const isUniqueViolation = (error: unknown): boolean => hasSqlState(error, 'unique_violation');

/** A row refers to a row that doesn't exist, or is still referred to. */
export const isForeignKeyViolation = (error: unknown): boolean => hasSqlState(error, 'foreign_key_violation');

/** Of a check constraint, or raised by a trigger that checks. */
export const isCheckViolation = (error: unknown): boolean => hasSqlState(error, 'check_violation');

/** A constraint of any kind refused a row. */
export const isConstraintViolation = (error: unknown): boolean => hasSqlClass(error, 'integrity_constraint_violation');

/** A value could not be read, cast or computed. */
export const isDataException = (error: unknown): boolean => hasSqlClass(error, 'data_exception');

/** The table or its schema doesn't exist, or not any more. */
export const isMissingTable = (error: unknown): boolean => hasSqlState(error, 'undefined_table', 'invalid_schema_name');

/** `lock_timeout` passed before another session released its lock. */
export const isLockTimeout = (error: unknown): boolean => hasSqlState(error, 'lock_not_available');

/** `statement_timeout` passed, or the statement was cancelled. */
export const isCancelled = (error: unknown): boolean => hasSqlState(error, 'query_canceled');

/** The session was ended from outside, with its transaction. */
export const isSessionEnded = (error: unknown): boolean => hasSqlState(error, 'admin_shutdown');

/** Another session holds a lock that this one needs. */
export const isLockConflict = (error: unknown): boolean =>
  isLockTimeout(error) || hasSqlState(error, 'deadlock_detected');

/** Two transactions can't both succeed; this one was rolled back, and may be repeated as it was. */
export const isTransactionConflict = (error: unknown): boolean =>
  hasSqlState(error, 'serialization_failure', 'deadlock_detected');

/**
 * Other sessions changed rows or tables, or held a lock, while this transaction worked from what it
 * had read: repeated from the reading on, it may succeed.
 */
export const isRetryable = (error: unknown): boolean =>
  isTransactionConflict(error) ||
  isLockTimeout(error) ||
  isMissingTable(error) ||
  hasSqlState(error, 'unique_violation', 'foreign_key_violation', 'check_violation') ||
  hasSqlState(error, 'undefined_column', 'datatype_mismatch');

/**
 * Background work on a table met other sessions: it was cancelled, waited too long for a lock, or
 * its table changed. The next round may succeed.
 */
export const isTransient = (error: unknown): boolean =>
  isCancelled(error) ||
  isLockConflict(error) ||
  isMissingTable(error) ||
  hasSqlState(error, 'undefined_column', 'undefined_object', 'duplicate_table');

// Codes of the socket, of Prisma, and of its driver adapter, for failures without a SQLSTATE.
const connectionLost = new Set<unknown>([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'ECONNABORTED'],
  ...['P1001', 'P1002', 'P1017', 'P2024', 'P2028'], // P2028: a transaction got no connection in time, or took too long
  ...['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections'],
]);
// Errors of pg and its pool that have no code.
const connectionTexts = new RegExp(
  [
    'Connection terminated',
    'timeout exceeded when trying to connect',
    'timeout expired',
    'Client (?:was closed|has encountered a connection error) and is not queryable',
    'server closed the connection',
    'establishing an SSL connection',
    'Query read timeout',
  ].join('|'),
  'i',
);
// Failed system calls that mean: no connection, whatever the code.
const connectingCalls = new Set<unknown>(['connect', 'getaddrinfo']);
// PostgreSQL ends the connection with such an error.
const endingSeverities = new Set<unknown>(['FATAL', 'PANIC']);

function isConnectionLost(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, syscall, message } = error as DatabaseError;
  return (
    connectionLost.has(code) ||
    connectionLost.has(adapterCause(error as DatabaseError)?.kind) ||
    connectingCalls.has(syscall) ||
    connectionTexts.test(String(message))
  );
}

const endsConnection = (error: DatabaseError): boolean =>
  endingSeverities.has(error.severity) || endingSeverities.has(adapterCause(error)?.severity);

const answerTooLong = `An answer holds at most ${limits.answerBytes / 1024 ** 2} MB: ask for fewer rows at a time, or keep less in a row.`;

/** 400 for an answer that would be too large. */
export const answerTooLarge = (cause?: unknown): ServiceError =>
  new ServiceError('bad_request', { code: 'too_large', message: answerTooLong }, { cause });

// The routines of PostgreSQL that fail when a text would be too long: `repeat` when an answer is
// full (see answer-size.ts of data), the others for one huge value. XX000 and 54000 have other
// reasons too.
const textRoutines = /^(repeat|enlargeStringInfo|MemoryContext\w+|palloc\w*|repalloc\w*)$/;

const isTooLong = (error: unknown) =>
  hasSqlState(error, 'program_limit_exceeded', 'internal_error') &&
  textRoutines.test(String((error as DatabaseError).routine));

/** The database was away or too busy: the same transaction may succeed later. */
export function isUnavailable(thrown: unknown): boolean {
  const error = toPostgresError(thrown);
  return error instanceof ServiceError && error.kind === 'unavailable';
}

/** The ServiceError of a database failure; any other error is returned as it is. */
export function toPostgresError(thrown: unknown): unknown {
  if (thrown instanceof ServiceError) return thrown;
  const state = findSqlState(thrown);
  const unavailable = () =>
    new ServiceError('unavailable', 'The database is unavailable; try again.', { cause: thrown });
  if (state === undefined) return isConnectionLost(thrown) ? unavailable() : thrown;
  if (isTooLong(thrown)) return answerTooLarge(thrown);
  if (isUniqueViolation(thrown))
    return new ServiceError('already_exists', { code: 'taken', message: 'It exists already.' }, { cause: thrown });
  if (hasSqlClass(thrown, 'data_exception', 'integrity_constraint_violation', 'program_limit_exceeded'))
    return new ServiceError(
      'validation_failed',
      { code: 'invalid', message: 'A value breaks a rule of the table.' },
      { cause: thrown },
    );
  if (endsConnection(thrown as DatabaseError) || /^(08|53|57P|58|25006)/.test(state)) return unavailable();
  if (isCancelled(thrown) || isLockTimeout(thrown) || isTransactionConflict(thrown))
    return new ServiceError('unavailable', 'The database was too busy to finish this; try again.', { cause: thrown });
  return thrown;
}
