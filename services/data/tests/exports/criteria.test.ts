// Exports of some rows: the same ones as the grid's, in the same order.
import { ServiceError } from '@almanac/service-kit/errors';
import fc from 'fast-check';
import { openRequest, propose } from '../change-requests/requests.ts';
import { readAll } from '../files.ts';
import { caller, create, type DataNet, givenData, holding } from '../given.ts';
import { anySelection, anySort, deployTitles, givenRows, kindsOfAll, type Row } from '../summaries/given-rows.ts';
import { passed, patch, remove } from '../versions.ts';

let net: DataNet;
let request: number;
let instant: string;
const seed = Number(process.env.GRID_SEED ?? Date.now());

beforeAll(async () => {
  net = await givenData();
  const rows = await givenRows(net, 150);
  const id = (i: number) => rows[i]?.shown.svc_sk;
  instant = rows.at(-1)?.shown.svc_updated_at;
  await passed(net, instant);
  request = await openRequest(net);
  const proposed = await propose(net.call, request, 1, [
    { operation: 'create', record: { id: 5000, name: 'Alpha', owner: 'o1', amount: '2.25' } },
    { operation: 'update', id: id(3), record: { name: 'proposed', owner: 'o5', big: '9007199254740993' } },
    { operation: 'delete', id: id(4) },
  ]);
  expect(proposed.status).toBe(201);
  await patch(net.call, 1, id(5), { name: 'after the instant' });
  await remove(net.call, 1, [id(6)]);
});

afterAll(() => net.stop());

async function refusalOf(promise: Promise<unknown>) {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ServiceError)) throw error ?? new Error('this should have failed');
  return { kind: error.kind, problems: error.problems };
}

const wanted = (criteria: Row, more: Row = {}) => ({
  table_definition_id: 1,
  pattern: 'full',
  criteria: JSON.stringify(criteria),
  ...more,
});
const exported = (criteria: Row, more: Row = {}, as = caller) => readAll(net, wanted(criteria, more), as);
const linesOf = (text: string) => text.trimEnd().split('\n').slice(1);

async function gridRows(criteria: Row, more: Row = {}, call = net.call): Promise<Row[]> {
  const rows: Row[] = [];
  const size = 60;
  for (;;) {
    const { status, body } = await call('POST', '/api/v1/table_data/grid?exact_numbers=true', {
      table_definition_id: 1,
      ...more,
      ...criteria,
      startRow: rows.length,
      endRow: rows.length + size,
    });
    if (status !== 200) throw new Error(JSON.stringify(body));
    rows.push(...body.rows);
    if (body.rows.length < size) return rows;
  }
}

const quoted = (text: string) => (text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const cellOf = (value: unknown) => (value === null || value === undefined ? '' : quoted(String(value)));
const shown = (row: Row, name: string) =>
  name.endsWith('.$label') ? row.svc_lookups[name.slice(0, -'.$label'.length)] : row[name];
const csvOf = (rows: Row[], columns: string[]) =>
  [columns, ...rows.map((row) => columns.map((name) => cellOf(shown(row, name))))]
    .map((line) => `${line.join(',')}\n`)
    .join('');

const references = ['owner', 'twin'];
const withLabels = (names: string[]) =>
  names.flatMap((name) => (references.includes(name) ? [name, `${name}.$label`] : [name]));
const own = Object.keys(kindsOfAll).filter((name) => name !== 'svc_sk' && !name.endsWith('.$label'));
const columnsOf = ({ columns, include_lookups }: Row) => {
  const names = columns ?? ['svc_sk', 'svc_created_at', 'svc_updated_at', ...own];
  return include_lookups ? withLabels(names) : names;
};

const model = fc.record({
  selection: anySelection,
  sortModel: fc.uniqueArray(anySort, { maxLength: 3, selector: ({ colId }) => colId }),
  columns: fc.option(
    fc.uniqueArray(fc.constantFrom('svc_sk', 'svc_version', 'svc_is_deleted', 'svc_updated_by', ...own), {
      minLength: 1,
    }),
    { nil: undefined },
  ),
  include_lookups: fc.boolean(),
  how: fc.constantFrom('now', 'as of', 'through'),
});

describe('an export of some rows', () => {
  it(`has the rows of the grid, in its order, and the chosen columns (GRID_SEED=${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(model, async ({ selection, sortModel, columns, include_lookups, how }) => {
        const criteria = {
          ...selection,
          sortModel,
          ...(columns && { columns }),
          include_lookups,
          ...(how === 'through' && { change_request_id: request }),
        };
        const as_of = how === 'as of' ? { as_of: instant } : {};
        const answer = await exported(criteria, as_of);
        const names = columnsOf(criteria);
        const rows = await gridRows(criteria, as_of);
        expect(answer.columns).toEqual(names);
        expect([answer.rows, answer.text]).toEqual([rows.length, csvOf(rows, names)]);
      }),
      { numRuns: 120, seed, interruptAfterTimeLimit: 60_000 },
    );
  });

  it('has the rows as they would be, and what is applied is refused', async () => {
    const filterModel = { name: { filterType: 'set', values: ['proposed', 'after the instant'] } };
    const columns = ['name', 'owner'];
    const through = await exported({ filterModel, columns, include_lookups: true, change_request_id: request });
    expect(through.text).toBe('name,owner,owner.$label\nproposed,o5,beta 100%\nafter the instant,,\n');
    const other = await openRequest(net);
    await propose(net.call, other, 1, [{ operation: 'create', record: { id: 6000 } }]);
    await net.query(
      `insert into applied_change_request (account_id, apply_id, change_request_id, result) values (1, 'exported', $1, '{}')`,
      [other],
    );
    const failure = await refusalOf(exported({ change_request_id: other }));
    expect([failure.kind, failure.problems[0]?.field]).toEqual(['wrong_state', 'change_request_id']);
  });

  it('sees one instant, whatever is written during it', async () => {
    await deployTitles(net);
    await create(net, 5, { code: 'A', title: 'old' });
    for (let i = 0; i < 3; i += 1) await create(net, 6, { ref: 'A' });
    const parts = net.jobs.BulkRead(
      caller,
      wanted({ include_lookups: true, columns: ['ref'] }, { table_definition_id: 6 }),
    );
    const iterator = parts[Symbol.asyncIterator]();
    await iterator.next();
    await patch(net.call, 5, 1, { title: 'young' });
    let text = '';
    for (let next = await iterator.next(); !next.done; next = await iterator.next())
      if (next.value.chunk) text += next.value.chunk;
    expect(text).toBe('A,old\nA,old\nA,old\n');
  });
});

describe('a check of an export', () => {
  const check = (criteria: Row, more: Row = {}, as = caller) =>
    net.jobs.CheckBulkRead(as, { read: wanted(criteria, more) });
  const asUser = (userId: number) => ({ ...caller, applicationId: undefined, userId });
  const equals = { filterType: 'text', type: 'equals', filter: 'x' };

  it('takes what reading takes', async () => {
    await check({
      filterModel: { 'owner.$label': equals },
      q: 'a',
      columns: ['name', 'svc_sk'],
      include_lookups: true,
    });
    await check({ change_request_id: request });
    await check({ sortModel: [{ colId: 'big', sort: 'desc' }] }, { for_editing: true });
    await check({}, { as_of: instant });
  });

  it.each<[Row, Row, string, string]>([
    [{ filterModel: { nope: equals } }, {}, 'validation_failed', 'filterModel'],
    [{ filterModel: { name: { ...equals, type: 'nope' } } }, {}, 'validation_failed', 'filterModel'],
    [{ filterModel: false }, {}, 'validation_failed', 'filterModel'],
    [{ or: [{}, { name: { filterType: 'nope' } }] }, {}, 'validation_failed', 'or.1'],
    [{ q: 'a b c d e f g h i j k' }, {}, 'validation_failed', 'q'],
    [{ sortModel: [{ colId: 'nope', sort: 'asc' }] }, {}, 'validation_failed', 'sortModel'],
    [{ columns: ['nope'] }, {}, 'validation_failed', 'columns'],
    [{ columns: ['owner.$label'] }, {}, 'validation_failed', 'columns'],
    [{ columns: [] }, {}, 'validation_failed', 'columns'],
    [{ columns: ['name'] }, { for_editing: true }, 'validation_failed', 'columns'],
    [{ include_lookups: true }, { for_editing: true }, 'validation_failed', 'include_lookups'],
    [{ q: 'a' }, { pattern: 'incremental', high_water_mark: '2026-01-01T00:00:00Z' }, 'validation_failed', 'q'],
    [{ change_request_id: 1 }, { as_of: '2026-01-01T00:00:00Z' }, 'validation_failed', 'change_request_id'],
    [{ evil: true }, {}, 'bad_request', 'criteria'],
    [{ q: 'a' }, { as_of: '2999-01-01T00:00:00Z' }, 'bad_request', 'as_of'],
    [{ q: 'a' }, { table_definition_id: 99 }, 'not_found', ''],
  ])('refuses %j, as reading does', async (criteria, more, kind, field) => {
    const failure = await refusalOf(check(criteria, more));
    expect([failure.kind, failure.problems[0]?.field ?? '']).toEqual([kind, field]);
    const later = await refusalOf(exported(criteria, more));
    expect([later.kind, later.problems]).toEqual([failure.kind, failure.problems]);
  });

  it('names every problem', async () => {
    const failure = await refusalOf(check({ filterModel: { a: equals, b: equals }, columns: ['c'] }));
    expect(failure.problems.map(({ column }) => column)).toEqual(['a', 'b', 'c']);
  });

  it('refuses the change request of another account as an unknown one, and one of another branch', async () => {
    const foreign = await openRequest(net, { accountId: 2 });
    const problems = async (id: number) => {
      const { kind, problems } = await refusalOf(check({ change_request_id: id }));
      return { kind, problems };
    };
    const unknown = await problems(987_654);
    expect(unknown.kind).toBe('not_found');
    expect(await problems(foreign)).toEqual(unknown);
    const elsewhere = await openRequest(net, { branchId: 2 });
    expect(await problems(elsewhere)).toMatchObject({
      kind: 'validation_failed',
      problems: [{ field: 'change_request_id' }],
    });
  });

  it('takes the right to view the table, and to see the change request', async () => {
    net.rights.set(71, holding(['view', 'table_definition', 1]));
    net.rights.set(72, holding(['view', 'table_definition', 2]));
    net.rights.set(73, holding(['approve', 'branch', 1]));
    const through = { change_request_id: request };
    await check(through, {}, asUser(71));
    for (const userId of [72, 73]) {
      expect((await refusalOf(check(through, {}, asUser(userId)))).kind).toBe('forbidden');
      expect((await refusalOf(exported(through, {}, asUser(userId)))).kind).toBe('forbidden');
    }
    // A request that changes the other table alone.
    const hidden = await openRequest(net);
    await propose(net.call, hidden, 2, [{ operation: 'create', record: { code: 'zz' } }]);
    expect((await refusalOf(check({ change_request_id: hidden }, {}, asUser(71)))).kind).toBe('forbidden');
  });

  it('has no labels of a table that the caller may not view', async () => {
    net.rights.set(74, {
      license_type: 'end_user',
      permissions: [{ action: 'view', resource_type: 'table_definition', resource_id: 1 }],
    });
    const criteria = { columns: ['owner', 'id'], include_lookups: true, sortModel: [{ colId: 'id', sort: 'asc' }] };
    const answer = await exported(criteria, {}, asUser(74));
    expect(new Set(linesOf(answer.text).map((line) => line.split(',')[1]))).toEqual(new Set(['']));
    expect(answer.text).toBe(csvOf(await gridRows(criteria, {}, net.as({ userId: 74 })), answer.columns));
    const words = { filterModel: { 'owner.$label': { filterType: 'text', type: 'notBlank' } } };
    expect((await exported(words, {}, asUser(74))).rows).toBe(0);
    expect((await exported(words)).rows).toBeGreaterThan(0);
  });
});
