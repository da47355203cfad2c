// Structured logs: one JSON line for each event. Values are redacted by their structure
// (log-redaction.ts); the finished line is searched once more for texts with the shape of a secret.
import { type DestinationStream, type Logger, pino } from 'pino';
import { createLogOutput } from './log-output.ts';
import { loggable } from './log-redaction.ts';

export type { DestinationStream, Logger } from 'pino';

const stdout = 1;

/** A service's logger. `level` is a pino level or `silent`; lines go to stdout by default. */
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

// Lines of the same millisecond share the text of their time, a good part of the cost of a short
// line.
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

/**
 * For access log lines, whose few values are known: skips the redaction by structure, which costs
 * most.
 */
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

// JSON doesn't escape these, and terminals act on them: C1 controls, line separators, bidirectional
// controls.
const unprintable = /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

// Most lines match none of the shapes; one search finds that out.
const suspicious = new RegExp(`eyJ|earer |asic |://|[?&]|\\$argon2|${unprintable.source}`);

function withoutShapes(line: string): string {
  if (!suspicious.test(line)) return line;
  let safe = line;
  for (const [shape, instead] of shapes) safe = safe.replace(shape, instead);
  return safe.replace(unprintable, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
