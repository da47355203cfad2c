// Cuts the beginning of a text file into a sample.

/**
 * At most so many characters, to the end of a line that is outside of quotes. A text that is whole
 * and short stays as it is.
 */
export function cutAtLine(text: string, length: number, isWhole: boolean): string {
  if (isWhole && text.length <= length) return text;
  const part = text.slice(0, length);
  for (let end = part.lastIndexOf('\n'); end > 0; end = part.lastIndexOf('\n', end - 1)) {
    const lines = part.slice(0, end + 1);
    if (isClosed(lines)) return lines;
  }
  return part;
}

function isClosed(lines: string): boolean {
  return (lines.split('"').length - 1) % 2 === 0;
}

/**
 * The first records of a JSON text, one a line: those of an array, or of lines. Undefined for
 * another text.
 */
export function jsonLines(text: string, length: number): string | undefined {
  const start = text.trimStart();
  if (!start.startsWith('{') && !/^\[\s*\{/.test(start)) return undefined;
  const lines: string[] = [];
  let size = 0;
  for (const record of records(start)) {
    size += record.length + 1;
    if (size > length) break;
    lines.push(record.replaceAll(/[\r\n]+/g, ' '));
  }
  return lines.length > 0 ? lines.join('\n') : undefined;
}

// The outermost objects of a text; one that the end cuts is left out.
function* records(text: string): Generator<string> {
  let depth = 0;
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (isQuoted) {
      if (character === '\\') at += 1;
      else if (character === '"') isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === '{') {
      if (depth === 0) start = at;
      depth += 1;
    } else if (character === '}') {
      depth -= 1;
      if (depth === 0) yield text.slice(start, at + 1);
    }
  }
}
