import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { openCsv } from './csv-reader.ts';
import type { QuoteMark } from './row-scanner.ts';

async function* cut(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

type Style = { quote?: QuoteMark; hasHeader?: boolean };

/** The rows as data reads them: number, problem of the row, cells. */
async function read(text: string, size: number, { quote, hasHeader = true }: Style = {}) {
  const file = await openCsv(cut(text, size), { quote, hasHeader, expected: new Set(), rejectsRows: true });
  const parts: Uint8Array[] = [];
  for await (const part of file.rows([])) parts.push(part);
  const { delimiter, quote: mark, numbered, first_row } = file.layout;
  expect(numbered).toBe(true);
  const rows = parse(Buffer.concat(parts), { delimiter, quote: mark, escape: mark }) as string[][];
  expect(rows.map(([number]) => Number(number))).toEqual(rows.map((_, i) => first_row + i));
  return rows.map(([number, problems, ...cells]) => ({
    row: Number(number),
    cells,
    problem: problems === '' ? undefined : JSON.parse(problems as string)[0],
  }));
}

const ragged = ({ row, cells, problem }: Awaited<ReturnType<typeof read>>[number]) => [
  row,
  cells.join('|'),
  problem?.message,
];

describe('rows of CSV that may be rejected one by one', () => {
  it('are reported when they have more or fewer cells than the header', async () => {
    for (const size of [1, 2, 3, 7, 1000])
      expect((await read('a;b;c\n1;2;3\n\n4;5\r\n"6;\n";;"x";y;z\n7\n8;9;"1""0"', size)).map(ragged)).toEqual([
        [2, '1|2|3', undefined],
        [3, '4|5|', 'The row has 2 cells, the header has 3.'],
        [4, '6;\n||x', 'The row has 5 cells, the header has 3.'],
        [5, '7||', 'The row has 1 cell, the header has 3.'],
        [6, '8|9|1"0', undefined],
      ]);
  });

  it('carry the beginning of their text', async () => {
    const [row] = await read(`a,b\nü"${'x'.repeat(300)}\n`, 5, { quote: 'none' });
    expect(row?.problem).toEqual({
      column: '',
      value: `ü"${'x'.repeat(198)}`,
      message: 'The row has 1 cell, the header has 2.',
    });
  });

  it('are compared with the first line where there is no header, and with other quotes', async () => {
    const rows = await read("1,2\n'3,','4'''\n'5'\n", 3, { quote: "'", hasHeader: false });
    expect(rows.map(ragged)).toEqual([
      [1, '1|2', undefined],
      [2, "3,|4'", undefined],
      [3, '5|', 'The row has 1 cell, the first line has 2.'],
    ]);
  });

  it('have the cells that csv-parse finds, however they are cut', async () => {
    const cell = fc.constantFrom('', 'a', '"a,b"', '"x\ny"', '""', '"q""q"', 'ü');
    const lines = fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 9 }), async (rows, size) => {
        const text = ['h1,h2,h3', ...rows.map((cells) => cells.join(','))].join('\n');
        const plain = parse(text, { relax_column_count: true, skip_empty_lines: true }).slice(1) as string[][];
        const found = await read(text, size);
        expect(found.map(({ cells }) => cells)).toEqual(plain.map((cells) => [...cells, '', ''].slice(0, 3)));
        expect(found.map(({ problem }) => problem === undefined)).toEqual(plain.map((cells) => cells.length === 3));
      }),
      { numRuns: 300 },
    );
  });
});
