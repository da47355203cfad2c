// The one file that turns PostgreSQL's codes into kinds. Texts of the database never reach a caller.
import { ServiceError } from './errors.ts';

/** SQLSTATE of a pg error, or of the driver adapter's error inside a Prisma error. */
export function sqlState(thrown: unknown): string | undefined {
  const error = thrown as {
    code?: unknown;
    meta?: { driverAdapterError?: { cause?: { originalCode?: unknown } } };
    cause?: { originalCode?: unknown };
  };
  const adapter = error?.meta?.driverAdapterError?.cause?.originalCode ?? error?.cause?.originalCode;
  const state = adapter ?? error?.code;
  return typeof state === 'string' && /^[0-9A-Z]{5}$/.test(state) && !/^P\d{4}$/.test(state) ? state : undefined;
}

const connectionLost = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'P1001',
  'P1002',
  'P1017',
  'P2024',
]);
const connectionTexts =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|server closed the connection/i;

/** What a database failure means to the caller; anything that isn't one comes back as it was. */
export function toPostgresError(thrown: unknown): unknown {
  if (thrown instanceof ServiceError) return thrown;
  const state = sqlState(thrown);
  const unavailable = () =>
    new ServiceError('unavailable', 'The database is not available just now; try again.', { cause: thrown });
  if (state === undefined) {
    const error = thrown as { code?: unknown; message?: unknown };
    const lost = connectionLost.has(String(error?.code)) || connectionTexts.test(String(error?.message));
    return lost ? unavailable() : thrown;
  }
  if (state === '23505') return new ServiceError('already_exists', 'It exists already.', { cause: thrown });
  if (state.startsWith('23') || state.startsWith('22') || state.startsWith('54'))
    return new ServiceError('validation_failed', 'A value breaks a rule of the table.', { cause: thrown });
  if (state.startsWith('08') || state.startsWith('53') || state.startsWith('57P') || state === '25006')
    return unavailable();
  if (state === '57014' || state === '55P03' || state === '40001' || state === '40P01')
    return new ServiceError('unavailable', 'The database was too busy to finish this; try again.', { cause: thrown });
  return thrown;
}
