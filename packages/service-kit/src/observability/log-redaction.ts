// Makes values safe for logs: properties with a secret's name are redacted, errors are reduced to
// the parts that say what failed (a database's messages quote rows), and everything is bounded in
// length.
import { types } from 'node:util';
import { findSqlState } from '../postgres/errors.ts';
import { findTlsAdvice } from './tls-advice.ts';

const hidden = '[redacted]';
const maxTextLength = 2_000;
const maxDepth = 6;
const maxItems = 100;

// Matches names in snake case. `key` alone is a property of table definitions, not a secret.
const secretName = new RegExp(
  [
    '(^|_)(passwords?|passphrase|secrets?|tokens?|signature|cookies?|authorization|verifier|credentials?|csrf|jwt|digest)$',
    '(^|_)(password_hash|session|session_id)$',
    '(^|_)(api|access|private|signing|encryption|context|session|operator)_keys?$',
    '(^|_)(database|bus|object_store|smtp|upload|download)_urls?$',
    '^(x_almanac_)?context$',
    '^code$', // an authorization code; codes of errors are handled in `describeError`
  ].join('|'),
);

const asSnake = (name: string) =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/-/g, '_')
    .toLowerCase();

/** True for a name of a secret: `client_secret`, `busUrl`, `set-cookie`. */
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
  if (depth >= maxDepth) return '[deeper]';
  if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => loggable(item, depth + 1));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  const prototype = Object.getPrototypeOf(value);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!isPlain) return `[${prototype.constructor?.name ?? 'object'}]`;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, maxItems)
      .map(([name, inner]) => [name, isSecret(name, inner) ? hidden : loggable(inner, depth + 1)]),
  );
}

// instanceof doesn't recognise errors of another realm.
const isError = (value: unknown): value is Error => value instanceof Error || types.isNativeError(value);

// A number or a flag under such a name is a fact about the secret, not the secret.
const isSecret = (name: string, value: unknown) =>
  isSecretName(name) && value !== null && (typeof value === 'string' || typeof value === 'object');

const shortened = (text: string) =>
  text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}… (${text.length - maxTextLength} more)`;

// The safe properties of errors. Others hold requests, rows, statements and their parameters.
const safeProperties = ['code', 'errno', 'syscall', 'address', 'port', 'hostname', 'status', 'kind', 'details'];
const safeDatabaseProperties = ['severity', 'schema', 'table', 'column', 'constraint', 'routine'];

/** An error for the log: its type, message, stack and causes; never the data it was about. */
export function describeError(error: Error, depth = 0): Record<string, unknown> {
  const parts = error as Error & Record<string, unknown>;
  const described: Record<string, unknown> = {
    type: error.constructor?.name ?? error.name,
    message: shortened(messageOf(error)),
  };
  for (const name of [...safeProperties, ...safeDatabaseProperties])
    if (typeof parts[name] === 'string' || typeof parts[name] === 'number') described[name] = parts[name];
  const sqlState = findSqlState(error);
  if (sqlState !== undefined) described.sql_state = sqlState;
  const advice = findTlsAdvice(error);
  if (advice !== undefined) described.advice = advice;
  if (depth < maxDepth) {
    if (isError(error.cause)) described.cause = describeError(error.cause, depth + 1);
    if (described.type === 'AggregateError' && Array.isArray(parts.errors))
      described.errors = parts.errors.slice(0, 5).map((each) => loggable(each, depth + 1));
  }
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  if (frames.length > 0)
    described.stack = frames
      .map((line) => line.trim())
      .slice(0, 20)
      .join('\n');
  return described;
}

// Messages that quote data: PostgreSQL's and Prisma's of class 22 at their end, and JSON.parse's.
function messageOf(error: Error): string {
  const message = String(error.message).replace(/".*" is not valid JSON$/s, '"…" is not valid JSON');
  return findSqlState(error)?.startsWith('22') ? message.replace(/: ["“`].*$/s, ': …') : message;
}
