// Checks received messages before any handler gets them: a client of the broker must not be able to
// stop a service with a text. Members and types that a newer release adds are ignored.
import { z } from 'zod';
import { limits } from '../../limits.ts';
import { type BusMessage, UnreadableMessageError } from './message.ts';

/** The schema of the payload of each type that a consumer takes. */
export type Payloads = Record<string, z.ZodType<Record<string, unknown>>>;

/** A message whose payload has been checked. */
export type MessageOf<P extends Payloads> = {
  [T in keyof P & string]: Omit<BusMessage, 'type' | 'payload'> & { type: T; payload: z.output<P[T]> };
}[keyof P & string];

/** Handles checked messages. */
export type HandlerOf<P extends Payloads> = (message: MessageOf<P>) => Promise<void> | void;

/** Far above what services announce: requests have at most 1 MB. */
const maxBytes = 8 * 1024 * 1024;
const maxDepth = 100;

/** An id in a payload. */
export const messageId = z.int().positive().max(limits.int4);

/** The payloads of several types that share a schema. */
export function samePayload<T extends string, S extends Payloads[string]>(
  types: readonly T[],
  payload: S,
): Record<T, S> {
  return Object.fromEntries(types.map((type) => [type, payload])) as Record<T, S>;
}

const envelopeSchema = z.object({
  v: z.literal(1),
  id: z.guid(),
  type: z.string(),
  occurred_at: z.iso.datetime({ offset: true }),
  payload: z.record(z.string(), z.unknown()),
  request_id: z.string().max(1_000).optional(),
  traceparent: z.string().max(1_000).optional(),
});

/** Parses a message. Throws `UnreadableMessageError`. */
export function parseJson(text: string | Buffer): unknown {
  if (text.length > maxBytes) throw tooLarge();
  try {
    return JSON.parse(text.toString());
  } catch {
    throw new UnreadableMessageError('It is no JSON.');
  }
}

/**
 * Checks a message; undefined for a type that isn't in `payloads`. Throws `UnreadableMessageError`.
 */
export function readMessage(payloads: Payloads, value: unknown): BusMessage | undefined {
  const type = typeOf(value);
  if (type === undefined) throw new UnreadableMessageError('It is no message of the bus.');
  if (!Object.hasOwn(payloads, type)) return undefined;
  requireStorable(value);
  const envelope = check(envelopeSchema, value, type);
  return { ...envelope, payload: check(payloads[type] as Payloads[string], envelope.payload, `payload of ${type}`) };
}

/** The type that a value states. */
export function typeOf(value: unknown): string | undefined {
  const { type } = (value ?? {}) as Record<string, unknown>;
  return typeof type === 'string' ? type : undefined;
}

function check<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  // The log gets the paths of the problems, not the values.
  const places = [...new Set(read.error.issues.map(({ path }) => path.join('.') || 'all of it'))].join(', ');
  throw new UnreadableMessageError(`It is no ${what}: ${places.slice(0, 300)}.`);
}

// PostgreSQL refuses such texts, and deep nesting overflows the stack of a reader.
function requireStorable(value: unknown): void {
  const open: [value: unknown, depth: number][] = [[value, 0]];
  let size = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const [here, depth] = next;
    if (depth > maxDepth) throw new UnreadableMessageError('It is nested too deeply.');
    size += typeof here === 'string' ? here.length : 1;
    if (size > maxBytes) throw tooLarge();
    if (typeof here === 'string') requireText(here);
    if (typeof here !== 'object' || here === null) continue;
    for (const [name, member] of Object.entries(here)) {
      requireText(name);
      size += name.length;
      open.push([member, depth + 1]);
    }
  }
}

function requireText(text: string): void {
  if (text.includes('\0') || !text.isWellFormed())
    throw new UnreadableMessageError('It has characters that no database takes.');
}

const tooLarge = () => new UnreadableMessageError(`It is larger than ${maxBytes} bytes.`);
