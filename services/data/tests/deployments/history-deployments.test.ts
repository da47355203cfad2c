// History when its table is deployed again or removed, and when versions grow old.
import { sweep } from '../../src/maintenance/housekeeping.ts';
import { load, read } from '../files.ts';
import { caller, create, type DataNet, deploy, failureOf, givenData, type TableInput } from '../given.ts';
import { gaps, kept, marksPassed, passed, patch, remove, revert, rowsAsOf, versionsOf } from '../versions.ts';

let net: DataNet;
let last = 0;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const key = { name: 'id', data_type: 'integer', is_primary_key: true };

/** A table with a column `x` that had `values` one after the other; the row, and its times. */
async function givenPast(column: Partial<TableInput['columns'][number]>, values: unknown[], branch_id = 1) {
  last += 10;
  const table: TableInput = { id: last, branch_id, columns: [key, { name: 'x', ...column }] };
  await deploy(net, [table], { branchId: branch_id });
  const made = await create(net, last, { id: 1, x: values[0] });
  const times = [made.svc_updated_at];
  for (const x of values.slice(1)) {
    await passed(net, times.at(-1));
    times.push((await patch(net.call, last, made.svc_sk, { x })).body.svc_updated_at);
  }
  const was = async (place: number, id = table.id) => (await rowsAsOf(net.call, id, times[place]))[0];
  return { table, row: made.svc_sk as number, times, was };
}

const withX = (table: TableInput, column: Partial<TableInput['columns'][number]>): TableInput => ({
  ...table,
  version: (table.version ?? 1) + 1,
  columns: [key, { name: 'x', lineage_id: table.id * 1000 + 2, ...column }],
});

describe('a deployment', () => {
  it('shows the past in today’s columns: new ones empty, renamed ones by their new name, dropped ones not at all', async () => {
    const { table, row, was } = await givenPast({}, ['a', 'b', 'c']);
    await deploy(net, [withX(table, { name: 'renamed' })]);
    expect(await was(0)).toMatchObject({ renamed: 'a' });
    const grown = { ...withX(table, {}), version: 3, columns: [...withX(table, {}).columns, { name: 'more' }] };
    await deploy(net, [grown]);
    expect(await was(1)).toMatchObject({ x: 'b', more: null });
    await patch(net.call, table.id, row, { more: 'm' });
    await deploy(net, [{ ...table, version: 4, columns: [key, { name: 'more', lineage_id: table.id * 1000 + 3 }] }]);
    expect(Object.keys(await was(1)).filter((name) => !name.startsWith('svc_'))).toEqual(['id', 'more']);
    expect((await versionsOf(net.call, table.id, row)).map((version) => version.changed_columns)).toEqual([
      [], // by the deployment, which dropped the value of the row
      ['more'],
      [],
      [],
      ['id'],
    ]);
    await patch(net.call, table.id, row, { more: 'n' });
    expect(await gaps(net, table.id)).toEqual([]);
  });

  it('casts the past too; a value that can not be cast is lost and blocks nothing', async () => {
    const { table, was, row } = await givenPast({}, ['word', '99999999999', '12', '13']);
    await deploy(net, [withX(table, { data_type: 'integer' })]);
    expect([await was(0), await was(1), await was(2), await was(3)].map((each) => each.x)).toEqual([
      null,
      null,
      12,
      13,
    ]);
    const aside = await net.query(
      `select attrelid::regclass::text as table from pg_attribute where attrelid in ('b_1.t_${table.id}'::regclass, 'b_1.h_${table.id}'::regclass) and attname like 'x!_%' escape '!' order by 1`,
    );
    expect(aside.map((each) => each.table)).toEqual([`b_1.h_${table.id}`, `b_1.t_${table.id}`]);
    await net.query("update retired_column set retired_at = now() - interval '8 days'");
    await sweep(net.context);
    expect(
      await net.query(
        `select attname from pg_attribute where attrelid in ('b_1.t_${table.id}'::regclass, 'b_1.h_${table.id}'::regclass) and attname like 'x!_%' escape '!'`,
      ),
    ).toEqual([]);
    await deploy(net, [withX(table, { length: 2 })]);
    await deploy(net, [withX(table, { length: 1 })]);
    expect([await was(2), await was(3)].map((each) => each.x)).toEqual(['1', '1']);
    expect((await revert(net.call, table.id, row, 3)).body.x).toBe('1');
    expect(await gaps(net, table.id)).toEqual([]);
  });

  describe('that changes values writes versions like any other writer:', () => {
    type Column = TableInput['columns'][number];
    const x = (column: Partial<Column>): Column => ({ name: 'x', ...column });
    const placed = (column: Column) => (column.name === 'x' ? { ...column, lineage_id: last * 1000 + 2 } : column);

    /** The rows `1` and `2` before and after another column; the versions of each, newest first. */
    async function deployed(column: Partial<Column>, values: unknown[], next: Column[]) {
      const { table, row } = await givenPast(column, [values[0]]);
      const other = await create(net, table.id, { id: 2, x: values[1] });
      const deleted = await create(net, table.id, { id: 3, x: values[0] });
      await remove(net.call, table.id, [deleted.svc_sk]);
      await marksPassed(net);
      const { mark } = await read(net, table.id);
      await deploy(net, [{ ...table, version: 2, columns: [key, ...next.map(placed)] }]);
      await marksPassed(net);
      const shown = async (id: number) =>
        (await versionsOf(net.call, table.id, id)).map(({ svc_version, channel, action, record }) =>
          [svc_version, channel, action, JSON.stringify(record.x)].join(' '),
        );
      const changes = await read(net, table.id, mark);
      expect(await gaps(net, table.id)).toEqual([]);
      return {
        versions: [await shown(row), await shown(other.svc_sk)],
        exported: changes.text
          .trimEnd()
          .split('\n')
          .slice(1)
          .map((line) => line.split(',').slice(5).join(' ')),
        kept: await kept(net, table.id),
        table,
        row,
      };
    }

    it.each([
      [
        'decimals that are rounded',
        { data_type: 'decimal', length: 10, scale: 2 },
        ['10.55', '3'],
        { data_type: 'decimal', length: 10, scale: 0 },
        '11',
      ],
      ['texts that are shortened', { length: 5 }, ['abcde', 'ab'], { length: 3 }, '"abc"'],
      [
        'instants that become dates',
        { data_type: 'datetime' },
        ['2024-01-02T03:04:05Z', null],
        { data_type: 'date' },
        '"2024-01-02"',
      ],
      ['numbers that become texts', { data_type: 'integer' }, ['7', null], { data_type: 'text' }, '"7"'],
    ])('%s', async (_, before, values, after, became) => {
      const { versions, exported, table, row } = await deployed(before, values, [x(after)]);
      expect(versions).toEqual([
        [`2 deployment updated ${became}`, expect.stringMatching(/^1 api created/)],
        [expect.stringMatching(/^1 api created/)],
      ]);
      expect(exported).toEqual([`1 ${JSON.parse(became)}`]);
      expect((await versionsOf(net.call, table.id, row))[0]).toMatchObject({ application_id: 9, user_id: null });
    });

    it('a column that is dropped with values', async () => {
      const { versions, exported } = await deployed({}, ['a', null], []);
      expect(versions.map((each) => each.length)).toEqual([2, 1]);
      expect(exported).toEqual(['1']);
    });

    it.each([
      ['a new column', {}, [x({}), { name: 'more' }]],
      ['a longer text', { length: 5 }, [x({ length: 9 })]],
      [
        'more digits',
        { data_type: 'decimal', length: 10, scale: 2 },
        [x({ data_type: 'decimal', length: 12, scale: 4 })],
      ],
      [
        'whole decimals that become integers',
        { data_type: 'decimal', length: 10, scale: 2 },
        [x({ data_type: 'integer' })],
      ],
      ['a wider number', { data_type: 'integer' }, [x({ data_type: 'bigint' })]],
    ])('but not for %s', async (_, before, next) => {
      const { exported, kept: superseded } = await deployed(before, ['1', '2'], next);
      expect([exported, superseded]).toEqual([[], 1]);
    });
  });
});

describe('a table taken out of service', () => {
  it('keeps its history, and leaves its name free for a new one', async () => {
    const { table } = await givenPast({}, ['a', 'b']);
    await load(net, table.id, '1,c\n', { file_columns: ['id', 'x'] });
    await net.metadata.DropTable(caller, { table_definition_id: table.id });
    const [retired] = await net.query('select id from retired_table where table_definition_id = $1', [table.id]);
    expect(await net.query(`select count(*)::int as n from b_1.rh_${retired?.id}`)).toEqual([{ n: 2 }]);
    await deploy(net, [table]);
    const { svc_sk: row } = await create(net, table.id, { id: 1, x: 'new' });
    await patch(net.call, table.id, row, { x: 'newer' });
    expect(await kept(net, table.id)).toBe(1);
    await net.query("update retired_table set retired_at = now() - interval '8 days'");
    await sweep(net.context);
    expect(await net.query('select to_regclass($1) as found', [`b_1.rh_${retired?.id}`])).toEqual([{ found: null }]);
    expect(await kept(net, table.id)).toBe(1);
    const writes = () => net.query('select 1 from bulk_write where table_definition_id = $1', [table.id]);
    expect(await writes()).toHaveLength(1); // the definition is in service again
    await net.metadata.DropTable(caller, { table_definition_id: table.id });
    await net.query("update retired_table set retired_at = now() - interval '8 days'");
    await sweep(net.context);
    expect(await writes()).toEqual([]);
  });

  it('and deployed again is a new one: its history has nothing from before', async () => {
    const { table, times } = await givenPast({}, ['a', 'b']);
    await marksPassed(net);
    const { mark } = await read(net, table.id);
    await net.metadata.DropTable(caller, { table_definition_id: table.id });
    await net.query("update retired_table set retired_at = now() - interval '8 days'");
    await sweep(net.context);
    await deploy(net, [table]);
    const made = await create(net, table.id, { id: 2, x: 'new' });
    expect((await failureOf(read(net, table.id, mark))).errors).toEqual([
      expect.stringContaining('make a full export'),
    ]);
    await expect(rowsAsOf(net.call, table.id, times[0])).rejects.toThrow('goes back to');
    expect(await rowsAsOf(net.call, table.id, made.svc_updated_at)).toMatchObject([{ id: 2 }]);
    await marksPassed(net);
    const now = await read(net, table.id);
    expect((await read(net, table.id, now.mark)).rows).toBe(0);
  });

  it('is dropped with its branch', async () => {
    const { table } = await givenPast({}, ['a', 'b'], 9);
    await load(net, table.id, '1,c\n', { file_columns: ['id', 'x'] });
    expect(await kept(net, table.id, 9)).toBe(2);
    await net.metadata.DropBranch(caller, { branch_id: 9 });
    expect(await net.query("select 1 from pg_namespace where nspname = 'b_9'")).toEqual([]);
    expect(await net.query('select 1 from bulk_write where table_definition_id = $1', [table.id])).toEqual([]);
  });
});

describe('old versions', () => {
  it('of other tables are deleted while those of one are locked, and those in a later round', async () => {
    const [locked, free] = [await givenPast({}, ['a', 'b']), await givenPast({}, ['a', 'b'])];
    for (const { table } of [locked, free])
      await net.query(`update b_1.h_${table.id} set svc_valid_to = svc_valid_to - interval '40 days'`);
    const counts = async () => [await kept(net, locked.table.id), await kept(net, free.table.id)];
    expect(await counts()).toEqual([1, 1]);
    await net.query('begin');
    await net.query(`lock table b_1.h_${locked.table.id} in share mode`);
    await sweep(net.context, 30);
    await net.query('commit');
    expect(await counts()).toEqual([1, 0]);
    await sweep(net.context, 30);
    expect(await counts()).toEqual([0, 0]);
  });

  it('are kept for ever, or deleted after the retention of the installation', async () => {
    const { table, row, times, was } = await givenPast({}, ['a', 'b', 'c', 'd']);
    const untouched = await givenPast({}, ['a']);
    // The first two versions ended 40 days ago, the third today.
    await net.query(
      `update b_1.h_${table.id} set svc_valid_to = svc_valid_to - interval '40 days', svc_updated_at = svc_updated_at - interval '41 days' where svc_version <= 2`,
    );
    await sweep(net.context, 0);
    expect(await kept(net, table.id)).toBe(3);
    await sweep(net.context, 30);
    expect(await kept(net, table.id)).toBe(1);
    expect((await versionsOf(net.call, table.id, row)).map((each) => [each.svc_version, each.changed_columns])).toEqual(
      [
        [4, ['x']],
        [3, null],
      ],
    );
    expect(await was(2)).toMatchObject({ x: 'c' });
    const path = `/api/v1/table_data?as_of=${new Date(Date.parse(times[0]) - 40 * 86_400_000).toISOString()}`;
    expect(await net.call('GET', `${path}&table_definition_id=${table.id}`)).toMatchObject({
      status: 400,
      body: { errors: [expect.stringMatching(/ goes back to /)] },
    });
    // Where no version was deleted, nothing is refused.
    expect((await net.call('GET', `${path}&table_definition_id=${untouched.table.id}`)).body.data).toEqual([]);
    expect((await patch(net.call, table.id, row, { x: 'e' })).status).toBe(200);
  });
});
