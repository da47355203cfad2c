// Structured logs: one JSON line per event. What of the values may be told is decided by their structure (log-redaction.ts); the
// finished line is looked through once more for what has the shape of a secret.
import { type DestinationStream, type Logger, pino } from 'pino';
import { createLogOutput } from './log-output.ts';
import { loggable } from './log-redaction.ts';

export type { DestinationStream, Logger } from 'pino';

const stdout = 1;

/** A logger for one service. `level` is a pino level; `silent` turns it off. Lines go to stdout unless `destination` takes them. */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: { service, pid: process.pid },
      timestamp: createClock(),
      formatters: {
        level: (label) => ({ level: label }),
        log: (given) => loggable(given) as Record<string, unknown>,
      },
      serializers: { err: (described) => described },
      hooks: { streamWrite: withoutShapes },
    },
    destination ?? createLogOutput(stdout, service),
  );
}

// Lines of the same millisecond share the text of their time: making it anew is a good part of what a short line costs.
function createClock(): () => string {
  let at = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== at) {
      at = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

/** For lines of a few short values (one a request): without the look into each, which costs most of a line. */
export function createAccessLogger(logger: Logger): Logger {
  return logger.child({}, { formatters: { log: (given) => given } });
}

const shapes: [RegExp, string][] = [
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+/g, '[redacted]'], // a JSON Web Token
  [/\b([Bb]earer|[Bb]asic) [\w.~+/=-]{8,}/g, '$1 [redacted]'],
  [/(\w:\/\/)[^\s/@:"\\]*:[^\s/@"\\]*@/g, '$1[redacted]@'], // a URL with a password
  [/([?&](?:\w+_)?(?:token|code|secret|password|verifier|csrf)=)[^&\s"\\]+/gi, '$1[redacted]'],
  [/([?&](?:x-amz-)?(?:signature|credential)=)[^&\s"\\]+/gi, '$1[redacted]'],
  [/\$argon2\w*\$[^\s"\\]+/g, '[redacted]'],
];

// JSON leaves these as they are, terminals act on them: C1 controls, line separators, marks that turn the reading direction.
const unprintable = /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

// Most lines have nothing of the kind, which one look tells.
const suspicious = new RegExp(`eyJ|earer |asic |://|[?&]|\\$argon2|${unprintable.source}`);

function withoutShapes(line: string): string {
  if (!suspicious.test(line)) return line;
  let safe = line;
  for (const [shape, instead] of shapes) safe = safe.replace(shape, instead);
  return safe.replace(unprintable, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
