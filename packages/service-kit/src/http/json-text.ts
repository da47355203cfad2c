// JSON that PostgreSQL has rendered: a whole answer, or a part of one.
import { randomBytes } from 'node:crypto';

/** JSON as text or bytes, which is sent as it is. `status`: instead of the route's. */
export class JsonText {
  readonly text: string | Buffer;
  readonly status: number | undefined;
  constructor(text: string | Buffer, status?: 201) {
    this.text = text;
    this.status = status;
  }
}

// Stands for a part while the rest is written; no other text can hold it.
const mark = randomBytes(12).toString('base64url');
const marked = new RegExp(`"${mark}(\\d+)"`, 'g');

/** `JSON.stringify` of a value that may hold JsonText. Parsing it first would round its numbers. */
export function stringifyWithParts(value: unknown): string {
  const parts: JsonText[] = [];
  const text = JSON.stringify(value, (_key, part) =>
    part instanceof JsonText ? `${mark}${parts.push(part) - 1}` : part,
  );
  return parts.length === 0
    ? text
    : text.replace(marked, (_all, place) => String((parts[Number(place)] as JsonText).text));
}
