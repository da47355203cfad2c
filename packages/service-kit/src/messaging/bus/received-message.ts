// What comes off the wire is checked here, before any handler sees it: whoever may write to the bus must not be able to stop a
// service with a text. What a newer neighbour adds (members, types) is no mistake and is left out.
import { z } from 'zod';
import { limits } from '../../limits.ts';
import { type BusMessage, UnreadableMessageError } from './message.ts';

/** What stands in the messages of each type that a consumer takes. */
export type Payloads = Record<string, z.ZodType<Record<string, unknown>>>;

/** The messages that these payloads allow. */
export type MessageOf<P extends Payloads> = {
  [T in keyof P & string]: Omit<BusMessage, 'type' | 'payload'> & { type: T; payload: z.output<P[T]> };
}[keyof P & string];

/** Handles messages that have been checked. */
export type HandlerOf<P extends Payloads> = (message: MessageOf<P>) => Promise<void> | void;

/** Far beyond what any service announces: requests are of 1 MB at most. */
const mostBytes = 8 * 1024 * 1024;
const deepest = 100;

/** The id of a thing that a service keeps. */
export const messageId = z.int().positive().max(limits.int4);

/** Several types with the same in them. */
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

/** The JSON in a text or in bytes. */
export function parseJson(text: string | Buffer): unknown {
  if (text.length > mostBytes) throw tooLarge();
  try {
    return JSON.parse(text.toString());
  } catch {
    throw new UnreadableMessageError('It is no JSON.');
  }
}

/** The message that a value is; undefined when it is of a type that isn't taken here. Throws `UnreadableMessageError`. */
export function readMessage(payloads: Payloads, value: unknown): BusMessage | undefined {
  const type = typeOf(value);
  if (type === undefined) throw new UnreadableMessageError('It is no message of the bus.');
  if (!Object.hasOwn(payloads, type)) return undefined;
  requireStorable(value);
  const envelope = check(envelopeSchema, value, type);
  return { ...envelope, payload: check(payloads[type] as Payloads[string], envelope.payload, `payload of ${type}`) };
}

/** The type that a value says it has. */
export function typeOf(value: unknown): string | undefined {
  const { type } = (value ?? {}) as Record<string, unknown>;
  return typeof type === 'string' ? type : undefined;
}

function check<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  // Where it is wrong, not what stands there: this goes to the log.
  const places = [...new Set(read.error.issues.map(({ path }) => path.join('.') || 'all of it'))].join(', ');
  throw new UnreadableMessageError(`It is no ${what}: ${places.slice(0, 300)}.`);
}

// No database takes these texts, and what is nested too deeply ends whoever walks through it.
function requireStorable(value: unknown): void {
  const open: [value: unknown, depth: number][] = [[value, 0]];
  let size = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const [here, depth] = next;
    if (depth > deepest) throw new UnreadableMessageError('It is nested too deeply.');
    size += typeof here === 'string' ? here.length : 1;
    if (size > mostBytes) throw tooLarge();
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

const tooLarge = () => new UnreadableMessageError(`It is larger than ${mostBytes} bytes.`);
