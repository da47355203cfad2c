// Translates PostgreSQL's codes into kinds of errors. Texts of the database never reach a caller.
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

// Prisma's codes that stand for a SQLSTATE; its other codes mean nothing to a caller.
const prismaCodes = new Map<unknown, string>([
  ['P2002', '23505'],
  ['P2034', '40001'],
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

// The routines of PostgreSQL that fail when a text would be too long: `repeat` when an answer is
// full (see answer-size.ts of data), the others for one huge value. XX000 and 54000 have other
// reasons too.
const textRoutines = /^(repeat|enlargeStringInfo|MemoryContext\w+|palloc\w*|repalloc\w*)$/;

const isTooLong = (state: string, { routine }: DatabaseError) =>
  (state === '54000' || state === 'XX000') && textRoutines.test(String(routine));

/** The ServiceError of a database failure; any other error is returned as it is. */
export function toPostgresError(thrown: unknown): unknown {
  if (thrown instanceof ServiceError) return thrown;
  const state = findSqlState(thrown);
  const unavailable = () =>
    new ServiceError('unavailable', 'The database is unavailable; try again.', { cause: thrown });
  if (state === undefined) return isConnectionLost(thrown) ? unavailable() : thrown;
  if (isTooLong(state, thrown as DatabaseError))
    return new ServiceError('bad_request', answerTooLong, { cause: thrown });
  if (state === '23505') return new ServiceError('already_exists', 'It exists already.', { cause: thrown });
  if (state.startsWith('23') || state.startsWith('22') || state.startsWith('54'))
    return new ServiceError('validation_failed', 'A value breaks a rule of the table.', { cause: thrown });
  if (endsConnection(thrown as DatabaseError) || /^(08|53|57P|58|25006)/.test(state)) return unavailable();
  if (state === '57014' || state === '55P03' || state === '40001' || state === '40P01')
    return new ServiceError('unavailable', 'The database was too busy to finish this; try again.', { cause: thrown });
  return thrown;
}
