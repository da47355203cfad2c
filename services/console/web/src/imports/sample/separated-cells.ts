// Cells of text with separators, to show some of them.

type Style = { delimiter: string; quote: string | null };

/** The first rows of a text with separators; quotes enclose whole cells, and are doubled inside. */
export function readSeparated(text: string, { delimiter, quote }: Style, limit: number): string[][] {
  const mark = quote === 'none' ? undefined : (quote ?? '"');
  const rows: string[][] = [];
  let row: string[] = [];
  let at = skipSeparatorLine(text);
  while (at < text.length && rows.length < limit) {
    const isQuoted = mark !== undefined && text[at] === mark;
    const { cell, end } = isQuoted ? quotedCell(text, at, mark) : plainCell(text, at, delimiter);
    row.push(cell);
    at = end;
    if (text[at] === delimiter) {
      at += 1;
      if (at < text.length) continue;
      row.push('');
    }
    at += text.startsWith('\r\n', at) ? 2 : 1;
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  }
  return rows;
}

// Excel's own way to name the delimiter.
function skipSeparatorLine(text: string): number {
  return /^sep=.\r?\n/.exec(text)?.[0].length ?? 0;
}

type Cell = { cell: string; end: number };

function quotedCell(text: string, start: number, mark: string): Cell {
  let cell = '';
  let at = start + 1;
  while (at < text.length) {
    const end = text.indexOf(mark, at);
    if (end === -1) return { cell: cell + text.slice(at), end: text.length };
    cell += text.slice(at, end);
    if (text[end + 1] !== mark) return { cell, end: end + 1 };
    cell += mark;
    at = end + 2;
  }
  return { cell, end: text.length };
}

function plainCell(text: string, start: number, delimiter: string): Cell {
  let end = start;
  while (end < text.length && text[end] !== delimiter && text[end] !== '\n' && text[end] !== '\r') end += 1;
  return { cell: text.slice(start, end), end };
}
