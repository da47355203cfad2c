// Structured logs: one JSON line per event, secrets redacted by name wherever they appear near the top of an object.
import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

const secretNames = [
  'authorization',
  'cookie',
  'password',
  'client_secret',
  'secret',
  'access_token',
  'refresh_token',
  'code_verifier',
  'token',
  'x-almanac-context',
  'databaseUrl',
  'busUrl',
  'contextKey',
];

/** A logger for one service. `level` is a pino level; `silent` turns it off. */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  const paths = secretNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]);
  paths.push('["code"]', 'body["code"]', 'query["code"]', 'form["code"]'); // deeper, `code` is what tells an error
  return pino(
    {
      level,
      base: { service, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths, censor: '[redacted]' },
    },
    // Lines are written together, a tenth of a second late at most: a write for each would cost more than the line itself.
    destination ?? pino.destination({ fd: 1, sync: false, minLength: 4_096, periodicFlush: 100 }),
  );
}

/** For lines that by their making hold no secret (one a request): without the search for secrets, which costs most of a line. */
export function createAccessLogger(logger: Logger): Logger {
  return logger.child({}, { redact: [] });
}
