// Exports as JSON: lines of objects, or one array of them. Numbers keep all their digits.
import type { Cells, ExportColumn } from '../table-file/copied-rows.ts';

const encode = (text: string) => Buffer.from(text);

/** One object a line. */
export async function* writeNdjson(columns: readonly ExportColumn[], rows: AsyncIterable<Cells[]>) {
  const write = recordWriter(columns);
  for await (const batch of rows) yield encode(batch.map((cells) => `${write(cells)}\n`).join(''));
}

/** An array of objects, one a line. */
export async function* writeJson(columns: readonly ExportColumn[], rows: AsyncIterable<Cells[]>) {
  const write = recordWriter(columns);
  let before = '[\n';
  for await (const batch of rows) {
    yield encode(before + batch.map(write).join(',\n'));
    before = ',\n';
  }
  yield encode(before === '[\n' ? '[]\n' : '\n]\n');
}

// PostgreSQL writes values of these types as JSON already.
const isJson = new Set(['smallint', 'integer', 'bigint', 'decimal', 'real', 'double', 'boolean', 'json']);

function recordWriter(columns: readonly ExportColumn[]): (cells: Cells) => string {
  const parts = columns.map(({ name, dataType }, i) => ({
    name: `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`,
    asIs: isJson.has(dataType),
  }));
  return (cells) => {
    let text = '';
    for (let i = 0; i < parts.length; i += 1) {
      const part = parts[i] as (typeof parts)[number];
      const cell = cells[i] ?? null;
      text += part.name + (cell === null ? 'null' : part.asIs ? cell : JSON.stringify(cell));
    }
    return `${text}}`;
  };
}
