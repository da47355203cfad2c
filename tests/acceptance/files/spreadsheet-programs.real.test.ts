// Exported workbooks in the programs that read them: openpyxl, pandas and LibreOffice see every
// cell unchanged (apt-get install python3-openpyxl python3-pandas libreoffice-calc-nogui; Debian's
// own Python has them).
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Cells, copiedRows } from '../../../services/jobs/src/formats/table-file/copied-rows.ts';
import { editingExtras } from '../../../services/jobs/src/formats/xlsx/editing-sheets.ts';
import { openXlsx } from '../../../services/jobs/src/formats/xlsx/xlsx-reader.ts';
import { writeXlsx } from '../../../services/jobs/src/formats/xlsx/xlsx-writer.ts';
import { fileOf, readAll } from '../../../services/jobs/tests/formats/files.ts';

const run = promisify(execFile);
const python = '/usr/bin/python3';
const office = '/usr/bin/soffice';
const script = join(import.meta.dirname, 'spreadsheet-programs', 'read-workbook.py');
const withinMs = 120_000;

const columns = [
  { name: 'text', dataType: 'text' },
  { name: 'code', dataType: 'string' },
  { name: 'small', dataType: 'smallint' },
  { name: 'whole', dataType: 'integer' },
  { name: 'long', dataType: 'bigint' },
  { name: 'price', dataType: 'decimal', precision: 38, scale: 10 },
  { name: 'ratio', dataType: 'real' },
  { name: 'exact', dataType: 'double' },
  { name: 'ok', dataType: 'boolean' },
  { name: 'day', dataType: 'date' },
  { name: 'clock', dataType: 'time' },
  { name: 'at', dataType: 'datetime' },
  { name: 'moment', dataType: 'timestamptz' },
  { name: 'id', dataType: 'uuid' },
  { name: 'doc', dataType: 'json' },
];

// As PostgreSQL prints them; a missing value is null in the row.
const given: Record<string, string>[] = [
  {
    ...{
      text: 'plain',
      code: 'A1',
      small: '-32768',
      whole: '2147483647',
      long: '999999999999999',
      price: '12.5000000000',
    },
    ...{ ratio: '0.1', exact: '0.30000000000000004', ok: 'true', day: '2024-02-29', clock: '07:30:00' },
    ...{ at: '2024-02-29T12:34:56.789Z', moment: '1999-12-31T23:59:59.999Z' },
    ...{ id: '0f0e0d0c-0b0a-4908-8706-050403020100', doc: '{"a": [1, "<&>", null]}' },
  },
  {
    text: '',
    code: '007',
    long: '9223372036854775807',
    price: '1234567890123456789.0123456789',
    exact: '1e+300',
    ok: 'false',
  },
  { text: '=1+1', code: '=A1', long: '-1000000000000000', price: '-0.0000000001', exact: '-2.2250738585072014e-308' },
  { text: 'a "quoted" text, and; more', code: "'=1", day: '1900-02-28', at: '1900-02-28T12:00:00.000Z', small: '0' },
  { text: 'two\nlines\tand a tab', code: '+1', day: '1900-03-01', at: '1900-03-01T00:00:00.000Z', doc: '"text"' },
  {
    text: 'carriage\r\nreturn',
    code: '-1',
    day: '0001-01-01',
    at: '0001-01-01T00:00:00.000Z',
    clock: '23:59:59.123456',
  },
  { text: '🏔 é 漢字 \u0301', code: '@x', day: '1899-12-31', moment: '1899-12-31T23:00:00.000Z', doc: '{}' },
  { text: '  blanks  ', code: '1e3', day: '9999-12-31', at: '9999-12-31T23:59:59.999Z', ratio: '-3.4028235e+38' },
  { text: '_x0041_ and _', code: 'true', day: '1582-10-15', moment: '2024-06-30T00:00:00.001Z', doc: '[]' },
  { text: '<b>&amp;</b> ]]>', code: '1900-01-01', whole: '-2147483648', ratio: '1e-45', exact: '5e-324' },
  { text: '\u0001\u001f', code: '12345678901234567890', price: '99999.9999900000', doc: '12.50' },
  { text: 'NULL', code: '#N/A', long: '0', price: '0.0000000000', exact: '0', clock: '00:00:00', doc: 'true' },
];
const rows = given.map((row) => columns.map(({ name }): string | null => row[name] ?? null));

let folder: string;
let workbook: string;

beforeAll(async () => {
  for (const program of [python, office])
    if (!existsSync(program)) throw new Error(`${program} is missing: see the head of this file for the packages.`);
  folder = mkdtempSync(join(tmpdir(), 'almanac-spreadsheets-'));
  workbook = join(folder, 'written.xlsx');
  const parts: Uint8Array[] = [];
  for await (const part of writeXlsx(columns, batchesOf(rows))) parts.push(part);
  writeFileSync(workbook, Buffer.concat(parts));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function* batchesOf(all: Cells[]) {
  yield all;
}

/** Converts a workbook by LibreOffice; returns the path of the result. */
async function converted(path: string, kind: string, filter: string): Promise<string> {
  const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`;
  const target = join(folder, kind);
  const words = [profile, '--headless', '--convert-to', `${kind}:${filter}`, '--outdir', target, path];
  await run(office, words, { timeout: withinMs });
  return join(target, `written.${kind}`);
}

const shortened = (digits: string) => digits.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
const wholeMoment = (text: string) =>
  /^\d{4}-\d\d-\d\d[T ]\d\d:/.test(text) ? `${text.replace(' ', 'T').replace(/Z$/, '')}Z` : text;

// The same text for the same value, in whatever form a program reads it.
function canonical(text: string, dataType: string): string {
  switch (dataType) {
    case 'smallint':
    case 'integer':
    case 'bigint':
      return String(BigInt(text.replace(/\.0$/, '')));
    case 'decimal':
      return shortened(/e/i.test(text) ? Number(text).toFixed(20) : text);
    case 'real':
      return String(Math.fround(Number(text)));
    case 'double':
      return String(Number(text));
    case 'boolean':
      return text.toLowerCase();
    case 'date':
      return text.replace(/T00:00:00(\.000)?Z?$/, '');
    case 'datetime':
    case 'timestamptz':
      return new Date(wholeMoment(text)).toISOString();
    default:
      return text;
  }
}

const canonicalRows = (all: readonly (string | null)[][]) =>
  all.map((cells) =>
    Object.fromEntries(
      columns.map(({ name, dataType }, i) => [name, cells[i] == null ? null : canonical(cells[i], dataType)]),
    ),
  );
const map = (all: (string | null)[][], change: (text: string) => string | null) =>
  all.map((cells) => cells.map((cell) => (cell === null ? null : change(cell))));

describe('a workbook of an export', () => {
  describe('in Python', () => {
    type Shown = [kind: string, text: string] | null;
    let seen: Record<'openpyxl' | 'pandas', Shown[][]>;

    beforeAll(async () => {
      seen = JSON.parse((await run(python, [script, workbook], { timeout: withinMs })).stdout);
    });
    const texts = (all: Shown[][]) => all.map((cells) => cells.map((cell) => cell?.[1] ?? null));

    it('is read by openpyxl unchanged', () => {
      expect(canonicalRows(texts(seen.openpyxl))).toEqual(canonicalRows(rows));
    });

    it('is read by pandas unchanged, except that empty texts are missing values there', () => {
      const filled = (all: (string | null)[][]) => map(all, (text) => text || null);
      expect(canonicalRows(filled(texts(seen.pandas)))).toEqual(canonicalRows(filled(rows)));
    });

    it('has the types that a spreadsheet calculates with', () => {
      const kinds = seen.openpyxl[0]?.map((cell, i) => [columns[i]?.name, cell?.[0]]);
      expect(Object.fromEntries(kinds ?? [])).toEqual({
        ...{ text: 'text', code: 'text', small: 'number', whole: 'number', long: 'number', price: 'number' },
        ...{ ratio: 'number', exact: 'number', ok: 'boolean', day: 'moment', clock: 'text', at: 'moment' },
        ...{ moment: 'moment', id: 'text', doc: 'text' },
      });
    });
  });

  describe('in LibreOffice', () => {
    // LibreOffice keeps no empty texts, no carriage returns, and 15 digits of a number.
    const isDouble = columns.map(({ dataType }) => dataType === 'double');
    const kept = (all: (string | null)[][]) =>
      map(all, (text) => text.replaceAll('\r\n', '\n') || null).map((cells) =>
        cells.map((cell, i) => (cell !== null && isDouble[i] ? Number(cell).toPrecision(15) : cell)),
      );

    it('becomes CSV with every value', async () => {
      // Comma, double quote, UTF-8, from line 1; texts quoted; stored values, not formatted ones.
      const csv = await converted(workbook, 'csv', 'Text - txt - csv (StarCalc):44,34,76,1,,0,true,false');
      const [, ...lines] = await all(copiedRows(fileOf(readFileSync(csv)).open()));
      expect(canonicalRows(kept(lines))).toEqual(canonicalRows(kept(rows)));
    });

    it('is saved as a workbook that an import reads unchanged', async () => {
      const file = await openXlsx(fileOf(readFileSync(await converted(workbook, 'xlsx', 'Calc MS Excel 2007 XML'))));
      const read = await readAll(file, Object.fromEntries(columns.map(({ name, dataType }) => [name, dataType])));
      expect(read.flatMap(({ problems }) => problems)).toEqual([]);
      expect(canonicalRows(kept(read.map(({ cells }) => cells)))).toEqual(canonicalRows(kept(rows)));
    });
  });
});

describe('a workbook for editing', () => {
  const column = { isKey: false, isRequired: false, description: '' };
  const own = [
    { ...column, name: 'code', dataType: 'string', isKey: true, isRequired: true },
    { ...column, name: 'name', dataType: 'text' },
    { ...column, name: 'size', dataType: 'integer', choices: ['1', '2', '3'] },
  ];
  const shown = [...['svc_sk', 'svc_version'].map((name) => ({ name, dataType: 'bigint' })), ...own];
  const script = join(import.meta.dirname, 'spreadsheet-programs', 'edit-workbook.py');
  let source: string;

  beforeAll(async () => {
    source = join(folder, 'editing', 'written.xlsx');
    mkdirSync(join(folder, 'editing'));
    const parts: Uint8Array[] = [];
    const rows = batchesOf([
      ['12', '3', 'AT', 'Austria', '1'],
      ['13', '1', '007', '=1', null],
    ]);
    for await (const part of writeXlsx(shown, rows, editingExtras('countries', own))) parts.push(part);
    writeFileSync(source, Buffer.concat(parts));
  });

  async function read(path: string) {
    const file = await openXlsx(fileOf(readFileSync(path)));
    expect(file.header).toEqual(shown.map(({ name }) => name));
    const rows = await readAll(file, Object.fromEntries(shown.map(({ name, dataType }) => [name, dataType])));
    return rows.map(({ cells, problems }) => [...cells, ...problems]);
  }

  it('shows lists, hides the import’s columns, and returns from openpyxl with the edits', async () => {
    const target = join(folder, 'edited.xlsx');
    const seen = JSON.parse((await run(python, [script, source, target], { timeout: withinMs })).stdout);
    expect(seen).toMatchObject({
      sheets: [
        ['Rows', 'visible'],
        ['How to edit', 'visible'],
        ['Lists', 'hidden'],
      ],
      ...{ frozen: 'A2', bold: true, hidden: ['A', 'B'], lists: [['E2:E1048576', 'Lists!$A$1:$A$3']] },
      explained: expect.arrayContaining(['Column', 'code', 'name', 'size']),
    });
    expect(await read(target)).toEqual([
      ['12', '3', 'AT', 'edited', '1'],
      ['13', '1', '007', '=1', null],
      [null, null, 'NEW', 'new', '2'],
    ]);
  });

  it('returns from LibreOffice unchanged', async () => {
    expect(await read(await converted(source, 'xlsx', 'Calc MS Excel 2007 XML'))).toEqual([
      ['12', '3', 'AT', 'Austria', '1'],
      ['13', '1', '007', '=1', null],
    ]);
  });
});

async function all<T>(batches: AsyncIterable<T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const batch of batches) items.push(...batch);
  return items;
}
