// Unreadable files for tables with rows: each import fails and leaves the rows unchanged, or the
// file was intact after all and the table equals it. DAMAGED_WORKBOOKS: how many (16, each kind of
// damage as often); DAMAGED_SEED repeats a run.
import type { Api } from '@almanac/api-client/api';
import { unreadableFiles } from '@almanac/testkit/files/unreadable-files';
import { textRow, workbookOf } from '@almanac/testkit/files/workbooks';
import { randomOf } from '@almanac/testkit/random';
import { type DeployedTable, givenAccount, givenDeployedTable, importFile } from '@almanac/testkit/system/builders';

const seed = Number(process.env.DAMAGED_SEED ?? Date.now() % 1_000_000);
const count = Number(process.env.DAMAGED_WORKBOOKS ?? 16);
const random = randomOf(seed);
/** Concurrent imports, each into a table of its own. */
const lanes = 4;
const rowsBefore = 1_500;
const rowsInWorkbook = 3_000;

let api: Api;
let tables: DeployedTable[];

beforeAll(async () => {
  console.log(`DAMAGED_SEED=${seed} DAMAGED_WORKBOOKS=${count}`);
  api = await (await givenAccount({ plan: 'enterprise' })).person();
  tables = [];
  for (let lane = 0; lane < lanes; lane += 1) tables.push(await givenDeployedTable(api));
}, 300_000);

const linesOf = (rows: number, name: string) =>
  `code,name\n${Array.from({ length: rows }, (_, row) => `k${row},${name}\n`).join('')}`;

const imported = (table: DeployedTable, file: Uint8Array, format?: string) =>
  importFile(api, table, { pattern: 'full', allow_mass_delete: true, format }, file);

/** How many rows a table has, and how many of them have the name. */
async function rowsOf(table: DeployedTable, name: string): Promise<[number, number]> {
  const page = { table_definition_id: table.id, startRow: 0, endRow: 1 };
  const filterModel = { name: { filterType: 'text', type: 'equals', filter: name } };
  const all = await api.post('/table_data/grid', page);
  return [all.rowCount, (await api.post('/table_data/grid', { ...page, filterModel })).rowCount];
}

const restore = (table: DeployedTable) => imported(table, Buffer.from(linesOf(rowsBefore, 'before')), 'csv');

/** Works on the pieces one after the other in each lane; lanes run in parallel. */
async function inLanes<T>(pieces: T[], work: (table: DeployedTable, piece: T) => Promise<void>): Promise<void> {
  const left = pieces.values();
  await Promise.all(
    tables.map(async (table) => {
      await restore(table);
      for (const piece of left) await work(table, piece);
    }),
  );
}

const unreadable = unreadableFiles.filter(({ style }) => style === undefined);

it(`none of ${unreadable.length} files that can't be read changes the rows that are there`, async () => {
  await inLanes(unreadable, async (table, { what, content, format }) => {
    const end = await imported(table, Buffer.from((await content) as string), format);
    expect({ what, end, rows: await rowsOf(table, 'before') }).toMatchObject({
      what,
      end: { status: 'failed', errors: [expect.any(String)] },
      rows: [rowsBefore, rowsBefore],
    });
  });
}, 1_200_000);

it('a workbook whose row near its end refers to a missing text changes nothing', async () => {
  const reference = (row: number) => `<row><c t="s"><v>${row}</v></c><c t="s"><v>0</v></c></row>`;
  const texts = ['code', 'name', ...Array.from({ length: rowsInWorkbook }, (_, row) => `k${row}`)];
  const sheet = [textRow('code', 'name'), ...texts.slice(2).map((_, row) => reference(row + 2))];
  sheet[rowsInWorkbook - 5] = reference(texts.length + 10);
  const workbook = await workbookOf(sheet.join(''), { texts: texts.map((text) => `<si><t>${text}</t></si>`).join('') });
  await inLanes(Array(lanes).fill(workbook), async (table) => {
    const end = await imported(table, workbook);
    expect({ end, rows: await rowsOf(table, 'before') }).toMatchObject({
      end: { status: 'failed' },
      rows: [rowsBefore, rowsBefore],
    });
  });
}, 600_000);

it(`each of ${count} damaged workbooks is imported whole or not at all`, async () => {
  const name = 'in the workbook';
  const rows = Array.from({ length: rowsInWorkbook }, (_, row) => textRow(`k${row}`, name));
  const whole = await workbookOf([textRow('code', 'name'), ...rows].join(''));
  const ends = { completed: 0, failed: 0 };
  await inLanes(
    Array.from({ length: count }, (_, place) => damaged(whole, place)),
    async (table, { how, file }) => {
      const end = await imported(table, file, 'xlsx');
      const found = await rowsOf(table, end.status === 'completed' ? name : 'before');
      const wanted = end.status === 'completed' ? rowsInWorkbook : rowsBefore;
      expect({ how, end, found }).toMatchObject({
        how,
        end: { status: expect.stringMatching(/^(completed|failed)$/) },
      });
      expect({ how, end, found }).toEqual({ how, end, found: [wanted, wanted] });
      ends[end.status as keyof typeof ends] += 1;
      if (end.status === 'completed') await restore(table);
    },
  );
  console.log(JSON.stringify(ends));
  expect(ends.failed).toBeGreaterThan(count / 2);
}, 2_400_000);

/** The bytes with one fault, such as transfers and disks cause; the kinds take turns. */
function damaged(bytes: Buffer, place: number): { how: string; file: Buffer } {
  const file = Buffer.from(bytes);
  const at = random(file.length);
  const length = 1 + random(512);
  switch (place % 4) {
    case 0:
      return { how: `cut at ${at}`, file: file.subarray(0, at) };
    case 1:
      return { how: `${length} zeros at ${at}`, file: file.fill(0, at, Math.min(file.length, at + length)) };
    case 2:
      return {
        how: `without ${length} bytes at ${at}`,
        file: Buffer.concat([file.subarray(0, at), file.subarray(at + length)]),
      };
    default:
      file[at] = (file[at] as number) ^ (1 << random(8));
      return { how: `a bit at ${at}`, file };
  }
}
