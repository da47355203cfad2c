// The one file that turns PostgreSQL's codes into kinds. Texts of the database never reach a caller.
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

// Where Prisma's driver adapter says what it heard. Of the end of a transaction its own error comes up as it is, of all else within Prisma's.
const adapterCause = ({ name, cause, meta }: DatabaseError): AdapterCause | undefined =>
  meta?.driverAdapterError?.cause ?? (name === 'DriverAdapterError' ? cause : undefined);

// Prisma's own codes for what PostgreSQL has a code for; its other codes say nothing that a caller could use.
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

// Prisma's codes and those of the operating system (EPIPE) may have five characters, too.
const isSqlState = (code: string) => /^[0-9A-Z]{5}$/.test(code) && !/^P[1-9]|^E[A-Z]/.test(code);

// Of the socket, of Prisma, and of its driver adapter when there was no answer that could carry a SQLSTATE.
const connectionLost = new Set<unknown>([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'ECONNABORTED'],
  ...['P1001', 'P1002', 'P1017', 'P2024', 'P2028'], // the last: a transaction got no connection in time, or took too long
  ...['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections'],
]);
// Of pg and its pool, which give these no code.
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
// Whatever the code says: nobody was reached, whether by an address, a name, or a socket of the file system.
const reachingOut = new Set<unknown>(['connect', 'getaddrinfo']);
// PostgreSQL has ended the connection with this error.
const lastWords = new Set<unknown>(['FATAL', 'PANIC']);

function isConnectionLost(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, syscall, message } = error as DatabaseError;
  return (
    connectionLost.has(code) ||
    connectionLost.has(adapterCause(error as DatabaseError)?.kind) ||
    reachingOut.has(syscall) ||
    connectionTexts.test(String(message))
  );
}

const endsConnection = (error: DatabaseError): boolean =>
  lastWords.has(error.severity) || lastWords.has(adapterCause(error)?.severity);

const answerTooLong = `An answer holds at most ${limits.answerBytes / 1024 ** 2} MB: ask for fewer rows at a time, or keep less in a row.`;

// Where PostgreSQL finds out that a text would be longer than it holds: `repeat` when an answer is full (data/src/rows/answer-size.ts),
// the others when one value alone is too much. XX000 has many other reasons, 54000 has some.
const textRoutines = /^(repeat|enlargeStringInfo|MemoryContext\w+|palloc\w*|repalloc\w*)$/;

const isTooLong = (state: string, { routine }: DatabaseError) =>
  (state === '54000' || state === 'XX000') && textRoutines.test(String(routine));

/** What a database failure means to the caller; anything that isn't one comes back as it was. */
export function toPostgresError(thrown: unknown): unknown {
  if (thrown instanceof ServiceError) return thrown;
  const state = findSqlState(thrown);
  const unavailable = () =>
    new ServiceError('unavailable', 'The database is not available just now; try again.', { cause: thrown });
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
