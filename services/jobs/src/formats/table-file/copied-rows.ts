// The rows that data sends for an export: CSV as PostgreSQL writes it, cut anywhere.

/** Small enough that the rows of a piece die young, before the collector promotes them. */
const pieceBytes = 32 * 1024;

/** A column of an export; decimals that have a precision and a scale bring them. */
export type ExportColumn = {
  name: string;
  dataType: string;
  precision?: number | undefined;
  scale?: number | undefined;
};

/** null: no value. */
export type Cells = (string | null)[];

/** Rows in batches, each as soon as its bytes have arrived. */
export async function* copiedRows(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Cells[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  let size = pieceBytes;
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; ) {
      const piece = chunk.subarray(at, at + size);
      const text = rest + decoder.decode(piece, { stream: true });
      const { rows, end } = rowsOf(text);
      at += piece.length;
      rest = text.slice(end);
      // An incomplete row is parsed again from its start, each time with twice as many bytes.
      size = rows.length > 0 ? pieceBytes : size * 2;
      if (rows.length > 0) yield rows;
    }
  rest += decoder.decode();
  if (rest !== '') throw new Error('the rows of an export end within a row');
}

// `end` is where the first incomplete row begins.
function rowsOf(text: string): { rows: Cells[]; end: number } {
  const rows: Cells[] = [];
  let end = 0;
  let cells: Cells = [];
  for (let at = 0; at < text.length; ) {
    let next: number;
    if (text[at] === '"') {
      const close = closingQuote(text, at + 1);
      if (close < 0 || close + 1 >= text.length) break;
      cells.push(text.slice(at + 1, close).replaceAll('""', '"'));
      next = close + 1;
    } else {
      next = at;
      while (next < text.length && text[next] !== ',' && text[next] !== '\n') next += 1;
      if (next >= text.length) break;
      cells.push(next === at ? null : text.slice(at, next));
    }
    at = next + 1;
    if (text[next] !== '\n') continue;
    rows.push(cells);
    cells = [];
    end = at;
  }
  return { rows, end };
}

// -1: none. A quote at the very end may be the first of two.
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2)) if (text[at + 1] !== '"') return at;
  return -1;
}
