// Exports in the formats of text: TSV, lines of JSON, one JSON array. Numbers keep all their digits.
import type { Cells } from './copied-rows.ts';

/** Precision and scale of decimals that have them. */
export type WrittenColumn = {
  name: string;
  dataType: string;
  precision?: number | undefined;
  scale?: number | undefined;
};

const encode = (text: string) => Buffer.from(text);

/** CSV with tabs; an empty text is `""`, as in CSV. */
export async function* writeTsv(columns: readonly WrittenColumn[], rows: AsyncIterable<Cells[]>) {
  const cell = (text: string | null) =>
    text === null ? '' : text === '' || /["\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const line = (cells: Cells) => `${cells.map(cell).join('\t')}\n`;
  yield encode(line(columns.map(({ name }) => name)));
  for await (const batch of rows) yield encode(batch.map(line).join(''));
}

/** One object a line. */
export async function* writeNdjson(columns: readonly WrittenColumn[], rows: AsyncIterable<Cells[]>) {
  const write = recordWriter(columns);
  for await (const batch of rows) yield encode(batch.map((cells) => `${write(cells)}\n`).join(''));
}

/** An array of objects, one a line. */
export async function* writeJson(columns: readonly WrittenColumn[], rows: AsyncIterable<Cells[]>) {
  const write = recordWriter(columns);
  let before = '[\n';
  for await (const batch of rows) {
    yield encode(before + batch.map(write).join(',\n'));
    before = ',\n';
  }
  yield encode(before === '[\n' ? '[]\n' : '\n]\n');
}

// What PostgreSQL writes of these types is JSON already.
const isJson = new Set(['smallint', 'integer', 'bigint', 'decimal', 'real', 'double', 'boolean', 'json']);

function recordWriter(columns: readonly WrittenColumn[]): (cells: Cells) => string {
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
