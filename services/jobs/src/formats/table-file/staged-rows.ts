// Rows that were parsed cell by cell, encoded for data: CSV as PostgreSQL writes it. Each row
// begins with its number in the file and the problems that its text no longer shows.
import { limits } from '@almanac/service-kit/limits';
import { fileError } from './file-error.ts';
import { toChunks } from './message-chunks.ts';

/** `column` is the table's; empty for a problem of the whole row. */
export type CellProblem = { column: string; value: string; message: string };

export type StagedRow = {
  /** The row number that a person sees in the file. */
  number: number;
  /** One for each column of the file; null: no value. */
  cells: (string | null)[];
  problems: CellProblem[];
};

const chunkCharacters = 64 * 1024;
const shownCharacters = 200;

/** The part of a value that messages show. */
export const excerpt = (value: string): string => value.slice(0, shownCharacters).toWellFormed().replaceAll('\0', '�');

/**
 * The rows in chunks of at most 256 kB. `columns` names the target of each cell, for problems with
 * its text.
 */
export async function* stagedBytes(
  batches: AsyncIterable<StagedRow[]>,
  columns: readonly (string | undefined)[],
): AsyncGenerator<Uint8Array> {
  let text = '';
  let size = 0;
  for await (const batch of batches)
    for (const row of batch) {
      text += line(row, columns);
      if (text.length < chunkCharacters) continue;
      // A few bytes of Parquet can expand to any number of rows.
      size += text.length;
      if (size > limits.uploadBytes) throw fileError(`The rows take more than ${limits.uploadBytes} bytes as text.`);
      yield* toChunks(Buffer.from(text));
      text = '';
    }
  yield* toChunks(Buffer.from(text));
}

function line({ number, cells, problems }: StagedRow, columns: readonly (string | undefined)[]): string {
  let rest = '';
  const all = problems;
  for (let i = 0; i < cells.length; i += 1) {
    const cell = cells[i] as string | null;
    if (cell === null) rest += ',';
    else if (isText(cell)) rest += `,${quoted(cell)}`;
    else {
      const column = columns[i];
      if (column !== undefined)
        all.push({ column, value: excerpt(cell), message: `${column} holds a character that no text may hold` });
      rest += ',';
    }
  }
  return `${number},${problemsCell(all)}${rest}\n`;
}

/** The problems of a row, as the cell after its number, quoted by `mark`. */
export const problemsCell = (problems: CellProblem[], mark = '"'): string =>
  problems.length === 0 ? '' : `${mark}${JSON.stringify(problems).replaceAll(mark, mark + mark)}${mark}`;

const isText = (text: string) => text.isWellFormed() && !text.includes('\0');

// An unquoted empty cell would be null.
const quoted = (text: string) => (text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
