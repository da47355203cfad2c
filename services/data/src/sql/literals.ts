// The only file that puts values into SQL text: DDL (CHECK) and COPY take no parameters.
import type { Bind } from '../values/check.ts';

/** A text literal exactly as PostgreSQL's own quote_literal writes it; U+0000 is in no text. */
export function quoteLiteral(text: string): string {
  if (text.includes('\u0000') || !text.isWellFormed()) throw new Error('this text can be in no literal');
  const doubled = text.replaceAll("'", "''");
  return doubled.includes('\\') ? ` E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}

/** Writes a value where a statement takes no parameter; a list becomes an array. */
export const bindLiteral: Bind = (value, type) =>
  Array.isArray(value)
    ? `array[${value.map((each) => quoteLiteral(String(each))).join(', ')}]::${type}`
    : `${quoteLiteral(String(value))}::${type}`;
