// The changes of a dry run have decimals and bigints as JSON numbers with all their digits, which
// JSON.parse would round. They become texts here, as they are elsewhere in the console.

/**
 * JSON whose numbers keep their digits: those that a number of JavaScript would change are texts.
 */
export function parseExactly(text: string): unknown {
  return JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown);
}

/** A reviver. The source of a number is known to browsers from Chromium 114 and Safari 18.4 on. */
export function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return String(value) === context.source ? value : context.source;
}
