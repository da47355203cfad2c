/** The values of a list as the API has it: separated by `|`. */
export function splitValues(values: string | null): string[] {
  return values === null || values === '' ? [] : values.split('|');
}

/** The values that were typed, one a line; null without any. */
export function readLines(text: string): string[] | null {
  const values = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return values.length === 0 ? null : values;
}
