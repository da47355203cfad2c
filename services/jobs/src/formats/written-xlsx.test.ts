import type { Cells } from './copied-rows.ts';
import { packageProblems } from './given-package.ts';
import { writeXlsx } from './written-xlsx.ts';

const columns = ['integer', 'text', 'boolean', 'date', 'timestamptz', 'decimal'].map((dataType) => ({
  name: dataType,
  dataType,
}));

async function written(rows: Cells[]): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const batches = (async function* () {
    yield rows;
  })();
  for await (const part of writeXlsx(columns, batches)) parts.push(part);
  return Buffer.concat(parts);
}

describe('a workbook that is written', () => {
  it.each<[string, Cells[]]>([
    ['without rows', []],
    [
      'with values and gaps',
      [
        ['1', 'a', 'true', '2024-02-29', '2024-02-29T12:00:00.000Z', '1.5'],
        [null, '', null, '1900-01-01', null, '12345678901234567.5'],
        [null, null, null, null, null, null],
      ],
    ],
  ])('%s keeps the rules of ECMA-376', async (_what, rows) => {
    expect(await packageProblems(await written(rows))).toEqual([]);
  });
});
