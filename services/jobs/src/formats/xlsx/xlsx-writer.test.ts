import { fileOf, readAll } from '../../../tests/formats/files.ts';
import { packageProblems } from '../../../tests/formats/workbook-rules.ts';
import type { Cells } from '../table-file/copied-rows.ts';
import { type EditedColumn, editingExtras } from './editing-sheets.ts';
import { openXlsx } from './xlsx-reader.ts';
import { type SheetExtras, writeXlsx } from './xlsx-writer.ts';

const columns = ['integer', 'text', 'boolean', 'date', 'timestamptz', 'decimal'].map((dataType) => ({
  name: dataType,
  dataType,
}));

async function written(rows: Cells[], some = columns, beside?: SheetExtras): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const batches = (async function* () {
    yield rows;
  })();
  for await (const part of writeXlsx(some, batches, beside)) parts.push(part);
  return Buffer.concat(parts);
}

describe('a written workbook', () => {
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
  ])('%s follows the rules of ECMA-376', async (_what, rows) => {
    expect(await packageProblems(await written(rows))).toEqual([]);
  });

  describe('for editing', () => {
    const column = { isKey: false, isRequired: false, description: '' };
    const own: EditedColumn[] = [
      { ...column, name: 'code', dataType: 'string', isKey: true, isRequired: true, description: 'ISO "3166" <2>' },
      { ...column, name: 'size', dataType: 'integer', choices: ['1', '2', '3'] },
      { ...column, name: 'grp', dataType: 'string', choices: ['A', '007', '=B'], refersTo: 'groups & more' },
      { ...column, name: 'far', dataType: 'string', refersTo: 'far' },
    ];
    const all = [...['svc_sk', 'svc_version'].map((name) => ({ name, dataType: 'bigint' })), ...own];
    const row = ['12', '3', 'AT', '1', '007', null];

    it('follows the rules of ECMA-376, with lists and without', async () => {
      expect(await packageProblems(await written([row], all, editingExtras('t', own)))).toEqual([]);
      const bare = own.map(({ choices: _, ...each }) => each);
      expect(await packageProblems(await written([row], all, editingExtras('t', bare)))).toEqual([]);
    });

    it('is read as its rows, whatever else it contains', async () => {
      const file = await openXlsx(fileOf(await written([row], all, editingExtras('t', own))));
      expect(file.header).toEqual(all.map(({ name }) => name));
      const types = Object.fromEntries(all.map(({ name, dataType }) => [name, dataType]));
      expect(await readAll(file, types)).toEqual([{ number: 2, cells: row, problems: [] }]);
    });

    it('lists choices as cells of their type, only for columns that have some', () => {
      const { afterRows, sheets, hidden } = editingExtras('t', own);
      expect([...hidden]).toEqual(['svc_sk', 'svc_version']);
      expect(afterRows.match(/sqref="[^"]*"|<formula1>[^<]*/g)).toEqual([
        'sqref="D2:D1048576"',
        '<formula1>Lists!$A$1:$A$3',
        'sqref="E2:E1048576"',
        '<formula1>Lists!$B$1:$B$3',
      ]);
      const lists = sheets.find(({ name }) => name === 'Lists');
      expect(lists?.hidden).toBe(true);
      expect(lists?.xml).toContain('<c r="A2"><v>2</v></c><c r="B2" t="inlineStr"><is><t xml:space="preserve">007</t>');
    });
  });
});
