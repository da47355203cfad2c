// The only file that puts values into SQL text: DDL (CHECK) and COPY take no parameters.

/** A text literal exactly as PostgreSQL's own quote_literal writes it; U+0000 is in no text. */
export function quoteLiteral(text: string): string {
  if (text.includes('\u0000') || !text.isWellFormed()) throw new Error('this text can be in no literal');
  const doubled = text.replaceAll("'", "''");
  return doubled.includes('\\') ? ` E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}
