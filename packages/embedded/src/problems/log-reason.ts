// Why a process ended, from what it wrote to its log: one sentence for the console, no stack trace.

type Line = { level?: string; msg?: string; err?: { message?: string } };

const longest = 400;

// What to do, by what stands anywhere in the log.
const advice: [RegExp, string][] = [
  [
    /No space left|ENOSPC|Check free disk space|could not extend file/,
    'The disk is full: free some space, and start again.',
  ],
  [
    /incompatible with server/,
    'The data are those of another version of PostgreSQL: start the release of Almanac that wrote them.',
  ],
];

// Answers of a server that is about to start or stop to those who connect.
const isPassing = /the database system is (?:starting up|shutting down|not yet accepting connections|in recovery mode)/;

/**
 * The reason in the lines of a log, of a service or of PostgreSQL, and what to do about it if that
 * is known; undefined when there is none.
 */
export function readReason(log: string): string | undefined {
  const lines = log.trimEnd().split('\n');
  const reason = lines.map(fatalOf).find((found) => found !== undefined) ?? lines.at(-1)?.trim();
  if (!reason) return undefined;
  const text = reason.length > longest ? `${reason.slice(0, longest)} …` : reason;
  const sentence = /[.!?…]$/.test(text) ? text : `${text}.`;
  return [sentence, ...advice.flatMap(([known, hint]) => (known.test(log) ? [hint] : []))].join(' ');
}

function fatalOf(line: string): string | undefined {
  // PostgreSQL: `2026-01-01 12:00:00 UTC [12] FATAL:  could not write lock file: No space left …`
  const ofServer = /(?:FATAL|PANIC): +(.*)$/.exec(line)?.[1];
  if (ofServer) return isPassing.test(ofServer) ? undefined : ofServer;
  if (!line.startsWith('{')) return undefined;
  try {
    const { level, msg, err } = JSON.parse(line) as Line;
    return level === 'fatal' ? (err?.message ?? msg) : undefined;
  } catch {
    return undefined;
  }
}
