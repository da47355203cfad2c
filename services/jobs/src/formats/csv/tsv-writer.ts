// Exports as TSV.
import type { Cells, ExportColumn } from '../table-file/copied-rows.ts';

const encode = (text: string) => Buffer.from(text);

/** CSV with tabs; an empty text is `""`, as in CSV. */
export async function* writeTsv(columns: readonly ExportColumn[], rows: AsyncIterable<Cells[]>) {
  const cell = (text: string | null) =>
    text === null ? '' : text === '' || /["\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const line = (cells: Cells) => `${cells.map(cell).join('\t')}\n`;
  yield encode(line(columns.map(({ name }) => name)));
  for await (const batch of rows) yield encode(batch.map(line).join(''));
}
