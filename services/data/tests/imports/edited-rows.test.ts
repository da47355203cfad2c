// Edited files that are loaded: the edits are applied, and changes by others are not overwritten.
import { load, rejected } from '../files.ts';
import { caller, failureOf } from '../given.ts';
import { givenTable, list, net, overLoads } from './loads.ts';

overLoads();

const columns = ['code', 'name', 'size', 'grp'];

async function readForEditing(table: number): Promise<string[]> {
  const parts: Buffer[] = [];
  let names: string[] = [];
  const request = { table_definition_id: table, pattern: 'full', for_editing: true };
  for await (const { start, chunk } of net.jobs.BulkRead(caller, request)) {
    if (start) names = start.columns;
    if (chunk) parts.push(chunk as Buffer);
  }
  expect(names).toEqual(['svc_sk', 'svc_version', ...columns]);
  return Buffer.concat(parts).toString().trimEnd().split('\n');
}

const edited = (table: number, rows: string[], options = {}) =>
  load(net, table, `${rows.join('\n')}\n`, {
    file_columns: ['svc_sk', 'svc_version', ...columns],
    versioned: true,
    on_error: 'reject_rows',
    ...options,
  });

async function given() {
  const { table } = await givenTable();
  const made = 'AT,Austria,1,A\nBE,Belgium,2,B\nCH,Switzerland,3,C\nDE,Germany,,A\n';
  await load(net, table, made, { file_columns: columns });
  return { table, rows: await readForEditing(table) };
}

type Row = { svc_sk: number; svc_version: number; code: string; name: string; size: number | null };

const shownOf = async (table: number) =>
  (await list(table)).map(({ svc_version, code, name, size }: Row) => `${svc_version} ${code} ${name} ${size ?? '-'}`);

async function change(table: number, code: string, record: Record<string, unknown>) {
  const { svc_sk } = (await list(table)).find((row: Row) => row.code === code) as Row;
  const path = `/api/v1/table_data/${svc_sk}`;
  expect((await net.call('PATCH', path, { table_definition_id: table, record })).status).toBe(200);
}

describe('an edited file', () => {
  it('changes the rows that were edited, adds those without svc_sk, and leaves the others as they are', async () => {
    const { table, rows } = await given();
    const [at, be, ...others] = rows as [string, string, ...string[]];
    const result = await edited(table, [
      at.replace('Austria', 'Österreich'),
      be.replace(',2,', ',,'),
      ...others,
      ',,FR,France,5,B',
    ]);
    expect(result).toMatchObject({ status: 'completed', inserted: 1, updated: 2, unchanged: 2, rejected: 0 });
    expect(await shownOf(table)).toEqual([
      '2 AT Österreich 1',
      '2 BE Belgium -',
      '1 CH Switzerland 3',
      '1 DE Germany -',
      '1 FR France 5',
    ]);
  });

  it('does not overwrite rows that others changed, deleted or added since', async () => {
    const { table, rows } = await given();
    await change(table, 'AT', { name: 'Others' });
    await change(table, 'BE', { name: 'Others' });
    await change(table, 'CH', { name: 'Equal' });
    const de = (await list(table)).find((row: Row) => row.code === 'DE') as Row;
    await net.call('POST', '/api/v1/table_data/delete_records', { table_definition_id: table, ids: [de.svc_sk] });
    await load(net, table, 'FR,Others,,A\n', { file_columns: columns });
    const before = await shownOf(table);
    const [at, be, ch, deleted] = rows as [string, string, string, string];
    const edits = [at.replace('Austria', 'Mine'), be, ch.replace('Switzerland', 'Equal'), deleted, ',,FR,Mine,,A'];
    const result = await edited(table, edits, { load_id: `conflicts-${table}` });
    expect(result).toMatchObject({
      status: 'completed_with_errors',
      inserted: 0,
      updated: 0,
      unchanged: 1,
      rejected: 4,
    });
    expect(result.rejections.map(({ row, column, message }) => [row, column, message.split(/[;,:]/)[0]])).toEqual([
      [1, 'svc_version', 'The row was changed after the file was made'],
      [2, 'svc_version', 'The row was changed after the file was made'],
      [4, 'svc_sk', 'The row was deleted after the file was made'],
      [5, 'code', 'code must be unique'],
    ]);
    expect(await shownOf(table)).toEqual(before);
    expect(await rejected(net, `conflicts-${table}`)).toContain(`${at.replace('Austria', 'Mine')},1,`);
  });

  it.each<[string, (row: string) => string, string]>([
    ['another key', (row) => row.replace(',AT,', ',XX,'), "code can't be changed in an edited file"],
    ['a version that is no number', (row) => row.replace(',1,AT', ',one,AT'), 'svc_version must be as it was exported'],
    ['no version', (row) => row.replace(',1,AT', ',,AT'), 'svc_version must be as it was exported'],
    ['an svc_sk that is no number', (row) => `x${row}`, 'svc_sk must be as it was exported, or empty'],
    [
      'an svc_sk that is far too long',
      (row) => `9999999999999999999${row}`,
      'svc_sk must be as it was exported, or empty',
    ],
    ['a version and no svc_sk', (row) => row.replace(/^\d+,/, ','), 'svc_sk must be as it was exported; of a new row'],
    ['a rule that is broken', (row) => row.replace(',Austria,', ',,'), "name can't be blank"],
  ])('with %s is rejected, row by row', async (_what, edit, message) => {
    const { table, rows } = await given();
    const result = await edited(table, [edit(rows[0] as string), (rows[1] as string).replace(',2,', ',7,')]);
    expect(result).toMatchObject({ updated: 1, rejected: 1 });
    expect(result.rejections[0]?.message).toContain(message);
  });

  it('goes with the pattern incremental and both columns, and is read as of now only', async () => {
    const { table } = await given();
    const refused = (options: object) =>
      failureOf(load(net, table, '', { file_columns: columns, versioned: true, ...options }));
    expect(await refused({ pattern: 'full' })).toMatchObject({ kind: 'bad_request' });
    expect(await refused({})).toMatchObject({ kind: 'validation_failed' });
    const read = async () => {
      const request = { table_definition_id: table, pattern: 'incremental', high_water_mark: '2026-01-01T00:00:00Z' };
      for await (const _ of net.jobs.BulkRead(caller, { ...request, for_editing: true })) break;
    };
    expect(await failureOf(read())).toMatchObject({ kind: 'bad_request' });
  });
});
