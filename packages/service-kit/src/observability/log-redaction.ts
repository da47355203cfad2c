// What of a value may stand in a log: secrets are known by the name they go by, errors by the parts that say what happened
// (a database's own words quote rows), and nothing is longer than somebody would read.
import { types } from 'node:util';
import { findSqlState } from '../postgres/errors.ts';
import { findTlsAdvice } from './tls-advice.ts';

const hidden = '[redacted]';
const longestText = 2_000;
const deepest = 6;
const mostItems = 100;

// Names as snake case, whatever case or header they come in. `key` alone is what a table definition has.
const secretName = new RegExp(
  [
    '(^|_)(passwords?|passphrase|secrets?|tokens?|signature|cookies?|authorization|verifier|credentials?|csrf|jwt|digest)$',
    '(^|_)(password_hash|session|session_id)$',
    '(^|_)(api|access|private|signing|encryption|context|session|operator)_keys?$',
    '(^|_)(database|bus|object_store|smtp|upload|download)_urls?$',
    '^(x_almanac_)?context$',
    '^code$', // of an authorization; what tells an error is its own (`describeError`)
  ].join('|'),
);

const asSnake = (name: string) =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/-/g, '_')
    .toLowerCase();

/** True for a property that holds a secret by what it is called: `client_secret`, `busUrl`, `set-cookie`. */
export function isSecretName(name: string): boolean {
  return secretName.test(asSnake(name));
}

/** The value as it may be logged: plain, bounded in depth and length, without secrets. */
export function loggable(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return shortened(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return `[${typeof value}]`;
  if (typeof value !== 'object' || value === null) return value;
  if (isError(value)) return describeError(value, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'no date' : value.toISOString();
  if (depth >= deepest) return '[deeper]';
  if (Array.isArray(value)) return value.slice(0, mostItems).map((item) => loggable(item, depth + 1));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  const prototype = Object.getPrototypeOf(value);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!isPlain) return `[${prototype.constructor?.name ?? 'object'}]`;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, mostItems)
      .map(([name, inner]) => [name, isSecret(name, inner) ? hidden : loggable(inner, depth + 1)]),
  );
}

// Also one of another realm, which instanceof doesn't know.
const isError = (value: unknown): value is Error => value instanceof Error || types.isNativeError(value);

// A number or a flag under such a name tells of the secret, it isn't one.
const isSecret = (name: string, value: unknown) =>
  isSecretName(name) && value !== null && (typeof value === 'string' || typeof value === 'object');

const shortened = (text: string) =>
  text.length <= longestText ? text : `${text.slice(0, longestText)}… (${text.length - longestText} more)`;

// Of the many properties of errors (requests, rows, statements and their parameters among them) those that say where it failed.
const tellingProperties = ['code', 'errno', 'syscall', 'address', 'port', 'hostname', 'status', 'kind', 'details'];
const ofTheDatabase = ['severity', 'schema', 'table', 'column', 'constraint', 'routine'];

/** What is said of an error in a log: its type, words, place and causes; never what it was about. */
export function describeError(error: Error, depth = 0): Record<string, unknown> {
  const parts = error as Error & Record<string, unknown>;
  const told: Record<string, unknown> = {
    type: error.constructor?.name ?? error.name,
    message: shortened(wordsOf(error)),
  };
  for (const name of [...tellingProperties, ...ofTheDatabase])
    if (typeof parts[name] === 'string' || typeof parts[name] === 'number') told[name] = parts[name];
  const sqlState = findSqlState(error);
  if (sqlState !== undefined) told.sql_state = sqlState;
  const advice = findTlsAdvice(error);
  if (advice !== undefined) told.advice = advice;
  if (depth < deepest) {
    if (isError(error.cause)) told.cause = describeError(error.cause, depth + 1);
    if (told.type === 'AggregateError' && Array.isArray(parts.errors))
      told.errors = parts.errors.slice(0, 5).map((each) => loggable(each, depth + 1));
  }
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  if (frames.length > 0)
    told.stack = frames
      .map((line) => line.trim())
      .slice(0, 20)
      .join('\n');
  return told;
}

// What could not be read is quoted: a value by PostgreSQL (class 22) at the end of its words, by Prisma too; a text by JSON.parse.
function wordsOf(error: Error): string {
  const words = String(error.message).replace(/".*" is not valid JSON$/s, '"…" is not valid JSON');
  return findSqlState(error)?.startsWith('22') ? words.replace(/: ["“`].*$/s, ': …') : words;
}
