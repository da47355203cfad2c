// Rejected rows, shown and corrected in place: the stored file is loaded again with new cells.
import type { Call } from '@almanac/testkit/calls/call';
import { ended, givenJobs, type Jobs, makeMapping, personOf, runImport } from '../given.ts';

let jobs: Jobs;

beforeAll(async () => {
  jobs = await givenJobs();
});
afterAll(() => jobs.close());

const file = 'code,name\nDE,Germany\nFR,BAD\nIT,BAD\n';
let tables = 0;

type Place = { id: number; tableId: number; definition: number; key: string };

/** An import of a table of its own, that has ended. */
async function givenRejected(options: Record<string, unknown> = {}, content = file): Promise<Place> {
  tables += 1;
  const { key, table_definition_id } = jobs.neighbours.addTable({ key: `table_${tables}` });
  const how = { dry_run: true, on_error: 'reject_rows', ...options };
  const { id, import_tables } = await runImport(jobs, { [key]: content }, how);
  return { id, tableId: import_tables[0].id, definition: table_definition_id, key };
}

const pathOf = ({ id, tableId }: Place, what: string) => `/api/v1/imports/${id}/tables/${tableId}/${what}`;
const listed = (place: Place, query = '', call: Call = jobs.call) =>
  call('GET', pathOf(place, `rejected_rows${query}`));
const correct = (place: Place, rows: unknown, call: Call = jobs.call, headers: Record<string, string> = {}) =>
  call('POST', pathOf(place, 'correct'), { rows }, headers);
const france = { row: 3, cells: { name: 'France' } };

const messagesOf = ({ status, body }: { status: number; body: { problems?: { message: string }[] } }) => [
  status,
  ...(body.problems ?? []).map(({ message }) => message),
];

describe('the rejected rows of an import table', () => {
  it('are shown with their cells, their problems and where each column goes', async () => {
    const place = await givenRejected();
    expect(await listed(place, '?startRow=0&endRow=1')).toMatchObject({
      status: 200,
      body: {
        columns: [
          { name: 'code', target: 'code' },
          { name: 'name', target: 'name' },
        ],
        rows: [
          { row: 3, cells: ['FR', 'BAD'], problems: [{ column: 'name', value: 'BAD', message: 'is not allowed' }] },
        ],
        rowCount: 2,
      },
    });
  });

  it('name the columns of the file, whatever the mapping makes of them', async () => {
    const { key, table_definition_id } = jobs.neighbours.addTable({ key: 'mapped' });
    const mapping = await makeMapping(jobs, table_definition_id, {
      column_mappings: [
        { source_column: 'Land', target_column: 'code' },
        { source_column: 'Text', target_column: 'name' },
        { source_column: 'Note', target_column: null },
      ],
    });
    const how = { dry_run: true, on_error: 'reject_rows', import_mapping_id: mapping.id };
    const { id, import_tables } = await runImport(jobs, { [key]: 'Land,Note,Text\nFR,x,BAD\n' }, how);
    const place = { id, tableId: import_tables[0].id, definition: table_definition_id, key };
    expect((await listed(place)).body.columns).toEqual([
      { name: 'Land', target: 'code' },
      { name: 'Note', target: null },
      { name: 'Text', target: 'name' },
    ]);
    expect(messagesOf(await correct(place, [{ row: 2, cells: { Note: 'y', name: 'z' } }]))).toEqual([
      422,
      'The file has no column Note that fills a column of the table',
      'The file has no column name that fills a column of the table',
    ]);
    expect((await correct(place, [{ row: 2, cells: { Text: 'France' } }])).status).toBe(200);
    expect((await ended(jobs, `/imports/${id}`)).status).toBe('completed');
  });

  it('are 404 when data no longer keeps them, 400 beyond a window, seen by who may view the table', async () => {
    const place = await givenRejected();
    expect((await listed(place, '?startRow=0&endRow=1001')).status).toBe(400);
    expect((await listed(place, '', personOf(jobs, 51, 'view', place.definition))).status).toBe(200);
    expect((await listed(place, '', personOf(jobs, 52, 'view', 99_999))).status).toBe(403);
    expect((await listed(place, '', jobs.as({ accountId: 2 }))).status).toBe(404);
    jobs.neighbours.results.delete(jobs.neighbours.loads.at(-1)?.load_id ?? '');
    expect((await listed(place)).status).toBe(404);
  });
});

describe('rejected rows that are corrected', () => {
  it('make a dry run of the file with their new cells, and stay when others are corrected', async () => {
    const place = await givenRejected({ pattern: 'full' });
    const first = jobs.neighbours.loads.at(-1);
    const { status, body } = await correct(place, [france]);
    expect([status, body.dry_run, body.corrected_rows]).toEqual([200, true, 1]);
    expect(await ended(jobs, `/imports/${place.id}`)).toMatchObject({
      status: 'completed_with_errors',
      import_tables: [{ metrics: { rows_read: 3, rejected: 1 }, rejections: [{ row: 4 }], applied_as: null }],
    });
    await correct(place, [{ row: 4, cells: { code: 'it', name: null } }]);
    const after = await ended(jobs, `/imports/${place.id}`);
    expect(after).toMatchObject({
      status: 'completed',
      import_tables: [{ metrics: { rejected: 0 }, corrected_rows: 2 }],
    });
    expect(after.actions.map(({ action }: { action: string }) => action).slice(-4)).toEqual([
      ...['correct', 'completed_with_errors', 'correct', 'completed'],
    ]);
    const last = jobs.neighbours.loads.at(-1);
    expect(last?.options).toEqual({
      ...first?.options,
      load_id: last?.load_id,
      most_bytes: last?.options.most_bytes,
      corrections: [
        { row: 3, cells: [{ position: 1, target_column: 'name', value: 'France' }] },
        {
          row: 4,
          cells: [
            { position: 0, target_column: 'code', value: 'it' },
            { position: 1, target_column: 'name' },
          ],
        },
      ],
    });
    // Applied, the file is loaded with them.
    expect((await jobs.call('POST', pathOf(place, 'apply'), { as: 'rows' })).status).toBe(200);
    await ended(jobs, `/imports/${place.id}`);
    expect(jobs.neighbours.loads.at(-1)?.options).toMatchObject({
      dry_run: false,
      corrections: last?.options.corrections,
    });
  });

  it('are loaded when the file had failed for them', async () => {
    const place = await givenRejected({ dry_run: false, on_error: 'reject_file' });
    const user = personOf(jobs, 61, 'edit', place.definition);
    const both = [france, { row: 4, cells: { name: 'Italy' } }];
    expect((await correct(place, both, user)).status).toBe(200);
    expect(await ended(jobs, `/imports/${place.id}`)).toMatchObject({
      status: 'completed',
      import_tables: [{ dry_run: false, metrics: { rows_read: 3, inserted: 3, rejected: 0 } }],
    });
    expect(jobs.neighbours.loads.at(-1)?.from).toMatchObject({ userId: 61 });
  });

  it('are corrected once by a request that is repeated', async () => {
    const place = await givenRejected();
    const key = { 'idempotency-key': `correct-${place.id}` };
    const answers = await Promise.all([1, 2, 3].map(() => correct(place, [france], jobs.call, key)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    await ended(jobs, `/imports/${place.id}`);
    expect((await correct(place, [france], jobs.call, key)).status).toBe(200);
    expect(jobs.neighbours.loads.filter(({ key: of }) => of === place.key)).toHaveLength(2);
  });

  it('are those that the latest load has rejected, with cells that the file has', async () => {
    const place = await givenRejected();
    const rows = [
      france,
      { row: 2, cells: { name: 'Deutschland' } },
      { row: 4, cells: {} },
      { row: 4, cells: { x: '1' } },
    ];
    expect(messagesOf(await correct(place, rows))).toEqual([
      422,
      'Row 2 of the file is not among the rejected ones',
      'Row 4 has no cells',
      'The file has no column x that fills a column of the table',
    ]);
    for (const bad of [[], [{ row: 3 }], [{ row: 3, cells: { name: 1 } }], 'x'])
      expect((await correct(place, bad)).status).toBe(400);
    expect((await jobs.call('GET', `/api/v1/imports/${place.id}`)).body).toMatchObject({
      status: 'completed_with_errors',
      import_tables: [{ corrected_rows: 0 }],
    });
  });

  it('at most 1,000 rows of a file', async () => {
    const lines = Array.from({ length: 1001 }, (_, at) => `K${at},BAD\n`).join('');
    const place = await givenRejected({}, `code,name\n${lines}`);
    const corrected = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => ({ row: from + at, cells: { name: 'ok' } }));
    expect((await correct(place, corrected(2, 1003))).status).toBe(400);
    expect((await correct(place, corrected(2, 1002))).status).toBe(200);
    expect((await ended(jobs, `/imports/${place.id}`)).import_tables[0]).toMatchObject({ metrics: { rejected: 1 } });
    expect(messagesOf(await correct(place, corrected(1002, 1003)))).toEqual([
      422,
      expect.stringContaining('At most 1000 rows of a file can be corrected in place'),
    ]);
  });

  it('are refused of a table that has loaded rows, is proposed, rejected none, or has not ended', async () => {
    const loaded = await givenRejected({ dry_run: false });
    expect(messagesOf(await correct(loaded, [france]))).toEqual([422, expect.stringMatching(/loaded already/)]);
    const proposed = await givenRejected();
    await jobs.call('POST', pathOf(proposed, 'apply'), { as: 'change_request' });
    expect(messagesOf(await correct(proposed, [france]))).toEqual([422, expect.stringMatching(/proposed already/)]);
    const clean = await givenRejected({}, 'code,name\nDE,Germany\n');
    expect(messagesOf(await correct(clean, [france]))).toEqual([422, expect.stringMatching(/rejected some/)]);
    const place = await givenRejected();
    const { object_key } = await jobs.context.prisma.import_table.findFirstOrThrow({ where: { id: place.tableId } });
    await jobs.context.store.remove(object_key);
    expect(messagesOf(await correct(place, [france]))).toEqual([422, expect.stringMatching(/no longer stored/)]);
  });

  it('take the right to edit, and a policy that lets one load', async () => {
    const place = await givenRejected();
    expect((await correct(place, [france], personOf(jobs, 71, 'view', place.definition))).status).toBe(403);
    expect((await correct(place, [france], jobs.as({ accountId: 2 }))).status).toBe(404);
    const failed = await givenRejected({ dry_run: false, on_error: 'reject_file' });
    for (const { definition } of [failed, place]) jobs.neighbours.proposedOnly.add(definition);
    expect((await correct(failed, [france], personOf(jobs, 72, 'edit', failed.definition))).status).toBe(422);
    expect((await correct(place, [france], personOf(jobs, 73, 'edit', place.definition))).status).toBe(200);
  });
});
