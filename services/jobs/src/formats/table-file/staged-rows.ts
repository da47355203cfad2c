// Rows that were read cell by cell, on their way to the data service: CSV as PostgreSQL writes it, each row led by its number in
// the file and by what is wrong with it that its text no longer shows.
import { limits } from '@almanac/service-kit/limits';
import { fileError } from './file-error.ts';
import { slices } from './message-chunks.ts';

/** `column` is the table's, empty when the row as a whole is meant. */
export type CellProblem = { column: string; value: string; message: string };

export type StagedRow = {
  /** As a person finds it in the file. */
  number: number;
  /** One for each column of the file; null: no value. */
  cells: (string | null)[];
  problems: CellProblem[];
};

const chunkCharacters = 64 * 1024;
const shownCharacters = 200;

/** The part of a value that is told to a person. */
export const shown = (value: string): string => value.slice(0, shownCharacters).toWellFormed().replaceAll('\0', '�');

/** The rows as chunks of at most 256 kB. `columns` names the target of each cell, for problems with its text. */
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
      // A few bytes of Parquet can stand for any number of rows.
      size += text.length;
      if (size > limits.uploadBytes) throw fileError(`The rows take more than ${limits.uploadBytes} bytes as text.`);
      yield* slices(Buffer.from(text));
      text = '';
    }
  yield* slices(Buffer.from(text));
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
        all.push({ column, value: shown(cell), message: `${column} holds a character that no text may hold` });
      rest += ',';
    }
  }
  return `${number},${problemsCell(all)}${rest}\n`;
}

/** What is wrong with a row, as the cell behind its number; in a file with the quote `mark`. */
export const problemsCell = (problems: CellProblem[], mark = '"'): string =>
  problems.length === 0 ? '' : `${mark}${JSON.stringify(problems).replaceAll(mark, mark + mark)}${mark}`;

const isText = (text: string) => text.isWellFormed() && !text.includes('\0');

// An unquoted empty cell would be null.
const quoted = (text: string) => (text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
