import { changed, givenColumn, list, nextId, plan } from '../columns.ts';
import { caller, create, type DataNet, deploy, failureOf, givenData, type TableInput, wanted } from '../given.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

describe('a plan', () => {
  it('of a new table shows everything and changes nothing', async () => {
    const id = nextId();
    const { diffs } = await plan(net, [{ id, columns: [{ name: 'code', length: 3, is_primary_key: true }] }]);
    expect(diffs).toMatchObject([
      {
        table_definition_id: id,
        change: 'new',
        columns: [{ name: 'code', change: 'new' }],
        warnings: [],
        blockers: [],
      },
    ]);
    expect(diffs[0]?.statements.some((statement) => statement.startsWith(`create table b_1.t_${id} (`))).toBe(true);
    expect(await net.query('select 1 from deployed_table where table_definition_id = $1', [id])).toEqual([]);
  });

  it('of an unchanged table says so', async () => {
    const table = await givenColumn(net, { length: 5 }, []);
    const { diffs } = await plan(net, [table]);
    expect(diffs[0]).toMatchObject({ change: 'unchanged', attributes: [], statements: [], warnings: [], blockers: [] });
  });

  it('shows attributes from and to, and a rename is no DDL', async () => {
    const table = await givenColumn(net, { length: 5 }, ['a']);
    const renamed = {
      ...changed(table, { length: 5 }),
      name: 'Other',
      columns: [table.columns[0], { name: 'renamed', length: 5 }],
    } as TableInput;
    const { diffs } = await plan(net, [renamed]);
    expect(diffs[0]).toMatchObject({
      change: 'modified',
      attributes: [{ name: 'name', from: `"Table ${table.id}"`, to: '"Other"' }],
      statements: [],
    });
    expect(diffs[0]?.columns[1]).toEqual({
      name: 'renamed',
      change: 'modified',
      attributes: [{ name: 'name', from: '"x"', to: '"renamed"' }],
    });
    await deploy(net, [renamed]);
    expect((await list(net, table.id))[0].renamed).toBe('a');
  });

  it.each<[string, Partial<TableInput>, RegExp]>([
    ['no columns', { columns: [] }, /no columns/],
    ['a column name', { columns: [{ name: 'a b' }] }, /no name for a column/],
    ['a system name', { columns: [{ name: 'svc_x' }] }, /no name for a column/],
    ['names that differ in case', { columns: [{ name: 'a' }, { name: 'A' }] }, /there twice/],
    ['an unknown type', { columns: [{ name: 'a', data_type: 'integer; drop' }] }, /unknown data type/],
    ['__proto__ as type', { columns: [{ name: 'a', data_type: '__proto__' }] }, /unknown data type/],
    ['a JSON key', { columns: [{ name: 'a', data_type: 'json', is_primary_key: true }] }, /JSON/],
    ['a scale beyond the precision', { columns: [{ name: 'a', data_type: 'decimal', length: 2, scale: 3 }] }, /scale/],
    [
      'a valid value of another type',
      { columns: [{ name: 'a', data_type: 'integer', valid_values: ['1', 'x'] }] },
      /valid value x/,
    ],
    ['a missing target', { columns: [{ name: 'a', foreign_key_table_id: 4711 }] }, /not deployed on this branch/],
    [
      'too many key columns',
      { columns: Array.from({ length: 32 }, (_, i) => ({ name: `c${i}`, is_primary_key: true })) },
      /more than 31/,
    ],
    ['201 columns', { columns: Array.from({ length: 201 }, (_, i) => ({ name: `c${i}` })) }, /more than 200/],
    ['another branch', { branch_id: 2, columns: [{ name: 'a' }] }, /another branch/],
  ])('finds %s in the way', async (_name, table, message) => {
    const id = nextId();
    const request = { branch_id: 1, tables: [wanted({ id, columns: [], ...table })] };
    const { diffs } = await net.metadata.PlanDeployment(caller, request);
    expect(diffs[0]?.blockers.map((blocker) => blocker.message).join(' ')).toMatch(message);
    const failure = await failureOf(
      net.metadata.ApplyDeployment(caller, { deployment_id: `blocked-${id}`, ...request }),
    );
    expect([failure.kind, failure.errors.join(' ')]).toEqual(['validation_failed', expect.stringMatching(message)]);
    expect(await net.metadata.GetAppliedDeployment(caller, { deployment_id: `blocked-${id}` })).toMatchObject({
      applied: false,
    });
  });
});

describe('keys', () => {
  it('count duplicates before they are made', async () => {
    const table = await givenColumn(net, {}, ['a', 'a', 'b', 'c', 'c', 'c']);
    const keyed = {
      ...table,
      columns: [
        { ...table.columns[0], is_primary_key: false },
        { ...table.columns[1], is_primary_key: true },
      ],
    } as TableInput;
    expect((await plan(net, [keyed])).diffs[0]?.blockers).toEqual([
      { message: 'x is the primary key; rows share a value.', rows: 5 },
    ]);
  });

  it('refer across tables of one deployment, in any order, also to themselves', async () => {
    const [parent, child] = [nextId(), nextId()];
    await deploy(net, [
      {
        id: child,
        columns: [
          { name: 'p', data_type: 'integer', foreign_key_table_id: parent },
          { name: 'q', data_type: 'integer', foreign_key_table_id: parent },
        ],
      },
      {
        id: parent,
        columns: [
          { name: 'id', data_type: 'integer', is_primary_key: true },
          { name: 'up', data_type: 'integer', foreign_key_table_id: parent },
        ],
      },
    ]);
    await create(net, parent, { id: 1, up: 1 });
    await create(net, parent, { id: 2, up: 1 });
    await create(net, child, { p: 1, q: 2 });
    const refused = await net.call('POST', '/api/v1/table_data', {
      table_definition_id: child,
      record: { p: 3, q: 4 },
    });
    expect(refused.body.errors).toEqual([
      'p must refer to a record of the referenced table',
      'q must refer to a record of the referenced table',
    ]);
  });

  it('of several columns refer in order, and their types must agree', async () => {
    const [parent, child] = [nextId(), nextId()];
    const target: TableInput = {
      id: parent,
      columns: [
        { name: 'a', data_type: 'integer', is_primary_key: true },
        { name: 'b', is_primary_key: true },
      ],
    };
    const refer = (a: string, b: string): TableInput => ({
      id: child,
      columns: [
        { name: 'x', data_type: a, foreign_key_table_id: parent },
        { name: 'y', data_type: b, foreign_key_table_id: parent },
      ],
    });
    expect((await plan(net, [target, refer('string', 'integer')])).diffs[1]?.blockers[0]?.message).toMatch(
      /x is string, but a of .* is integer/,
    );
    const single: TableInput = {
      id: child,
      columns: [{ name: 'x', data_type: 'integer', foreign_key_table_id: parent }],
    };
    expect((await plan(net, [target, single])).diffs[1]?.blockers[0]?.message).toMatch(
      /as many columns as the primary key/,
    );
    await deploy(net, [target, refer('bigint', 'text')]);
    await create(net, parent, { a: 1, b: 'x' });
    await create(net, child, { x: 1, y: 'x' });
    expect(
      (await net.call('POST', '/api/v1/table_data', { table_definition_id: child, record: { x: 1, y: 'z' } })).status,
    ).toBe(422);
    expect((await create(net, child, { x: 7, y: null })).x).toBe(7);
    // The key may not change under rows that refer to it.
    const narrowed: TableInput = {
      ...target,
      columns: [target.columns[0] as TableInput['columns'][number], { name: 'b' }],
    };
    expect((await plan(net, [narrowed])).diffs[0]?.blockers.map((each) => each.message).join()).toMatch(
      /refers to this table/,
    );
  });

  it('count orphans before they refer', async () => {
    const parent = nextId();
    await deploy(net, [{ id: parent, columns: [{ name: 'id', data_type: 'integer', is_primary_key: true }] }]);
    const deleted = await create(net, parent, { id: 2 });
    await create(net, parent, { id: 1 });
    await net.call('POST', '/api/v1/table_data/delete_records', { table_definition_id: parent, ids: [deleted.svc_sk] });
    const table = await givenColumn(net, { data_type: 'integer' }, [1, 2, 3, null]);
    expect(
      (await plan(net, [changed(table, { data_type: 'integer', foreign_key_table_id: parent })])).diffs[0]?.blockers,
    ).toEqual([{ message: `x refers to Table ${parent}; rows have values that are not there.`, rows: 2 }]);
  });

  it('of a target may change their type with the columns that refer to it', async () => {
    const [parent, child] = [nextId(), nextId()];
    const tables = (type: string): TableInput[] => [
      { id: parent, columns: [{ name: 'id', data_type: type, is_primary_key: true }] },
      { id: child, columns: [{ name: 'p', data_type: type, foreign_key_table_id: parent }] },
    ];
    await deploy(net, tables('text'));
    await create(net, parent, { id: '1' });
    await create(net, child, { p: '1' });
    await deploy(net, tables('integer'));
    expect([(await list(net, parent))[0].id, (await list(net, child))[0].p]).toEqual([1, 1]);
    const direct = net.query(
      `insert into b_1.t_${child} (svc_created_at, svc_updated_at, c_${child * 1000 + 1}) values (now(), now(), 5)`,
    );
    await expect(direct).rejects.toMatchObject({ code: '23503' });
    // The target alone, to a type that still compares: the reference is dropped and made.
    await deploy(net, [tables('bigint')[0] as TableInput]);
    expect(
      (await net.call('POST', '/api/v1/table_data', { table_definition_id: child, record: { p: 5 } })).status,
    ).toBe(422);
  });
});

describe('applying', () => {
  it('applies one deployment id once, and answers its plan', async () => {
    const id = nextId();
    const table: TableInput = { id, columns: [{ name: 'x' }] };
    const answers = await Promise.all(Array.from({ length: 4 }, () => deploy(net, [table], { id: `once-${id}` })));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const { applied, plan: kept } = await net.metadata.GetAppliedDeployment(caller, { deployment_id: `once-${id}` });
    expect([applied, kept]).toEqual([true, answers[0]]);
  });

  it('leaves nothing behind when one of several tables fails', async () => {
    const id = nextId();
    const table = await givenColumn(net, { data_type: 'text' }, ['x']);
    const failure = await failureOf(
      deploy(net, [{ id, columns: [{ name: 'ok' }] }, changed(table, { data_type: 'integer' })]),
    );
    expect(failure.errors).toEqual([`Table ${table.id}: x has values that can't become integer. (1 row)`]);
    expect(await net.query('select to_regclass($1) as made', [`b_1.t_${id}`])).toEqual([{ made: null }]);
  });

  it('keeps accounts apart', async () => {
    const table = await givenColumn(net, {}, ['a']);
    const theirs = { ...caller, accountId: 2 };
    const failure = await failureOf(
      net.metadata.ApplyDeployment(theirs, { deployment_id: 'theirs', branch_id: 1, tables: [wanted(table)] }),
    );
    expect(failure.kind).toBe('not_found');
    expect(await net.metadata.DropTable(theirs, { table_definition_id: table.id })).toEqual({ dropped: false });
    expect((await failureOf(net.metadata.GetDeployedTable(theirs, { table_definition_id: table.id }))).kind).toBe(
      'not_found',
    );
    expect(await net.jobs.CountRows(theirs, { table_definition_ids: [table.id] })).toEqual({ counts: [] });
    expect(await net.jobs.CountRows(caller, { table_definition_ids: [table.id, 4711] })).toEqual({
      counts: [{ table_definition_id: table.id, rows: 1 }],
    });
  });

  it('never interrupts a write: each row is written wholly under one version', async () => {
    const id = nextId();
    const version = (n: number): TableInput => ({
      id,
      version: n,
      columns: [
        { name: 'id', data_type: 'integer', is_primary_key: true },
        { name: 'x', data_type: n % 2 ? 'string' : 'text' },
        ...(n % 2 ? [{ name: 'extra', data_type: 'integer' }] : []),
        ...(n % 3 ? [{ name: `name_${n}`, lineage_id: id * 1000 + 99 }] : []),
      ],
    });
    await deploy(net, [version(1)]);
    const statuses = new Map<number, number>();
    let running = true;
    let next = 0;
    const writer = async () => {
      while (running) {
        next += 1;
        const call =
          next % 3 === 0
            ? net.call('GET', `/api/v1/table_data?table_definition_id=${id}&per_page=5`)
            : net.call('POST', '/api/v1/table_data', { table_definition_id: id, record: { id: next, x: 'x' } });
        const { status } = await call;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    const writers = Array.from({ length: 8 }, writer);
    for (let n = 2; n <= 21; n += 1) await deploy(net, [version(n)]);
    running = false;
    await Promise.all(writers);
    statuses.delete(503); // the write waited longer for a deployment than its lock timeout
    expect([...statuses.keys()].toSorted()).toEqual([200, 201]);
    const { counts } = await net.jobs.CountRows(caller, { table_definition_ids: [id] });
    expect(counts[0]?.rows).toBe(statuses.get(201));
  });

  it('is seen at once by every instance', async () => {
    const other = await givenData({ database: net.database, keys: net.keys });
    try {
      const table = await givenColumn(net, {}, ['a']);
      const show = () => other.call('GET', `/api/v1/table_data?table_definition_id=${table.id}`);
      expect((await show()).body.data[0].x).toBe('a');
      await deploy(net, [{ ...table, columns: [table.columns[0], { name: 'renamed' }] } as TableInput]);
      expect((await show()).body.data[0].renamed).toBe('a');
      await deploy(net, [
        { ...table, columns: [table.columns[0], { name: 'renamed', data_type: 'json' }] } as TableInput,
      ]);
      expect((await show()).body.data[0].renamed).toBe('a');
      await net.metadata.DropTable(caller, { table_definition_id: table.id });
      expect((await show()).status).toBe(404);
    } finally {
      await other.stop();
    }
  });

  it('checks writes of every instance by the rules in force, not by cached ones', async () => {
    const other = await givenData({ database: net.database, keys: net.keys });
    try {
      const table = await givenColumn(net, {}, ['a']);
      const table_definition_id = table.id;
      const path = '/api/v1/table_data';
      const known = await create(net, table.id, { id: 50, x: 'b' }, other.call);
      const writes: [string, string, object][] = [
        ['POST', path, { record: { id: 51, x: 'c' } }],
        ['PATCH', `${path}/${known.svc_sk}`, { record: { x: 'c' } }],
        ['POST', `${path}/batch`, { operations: [{ operation: 'create', record: { id: 52, x: 'c' } }] }],
      ];
      for (const [i, [method, address, body]] of writes.entries()) {
        // Back and forth, so that it has cached another version each time.
        await deploy(net, [table]);
        await create(net, table.id, { id: 60 + i, x: 'b' }, other.call);
        await deploy(net, [{ ...table, columns: [table.columns[0], { name: 'renamed' }] } as TableInput]);
        const refused = await other.call(method, address, { table_definition_id, ...body });
        expect([method, address, refused.status]).toEqual([method, address, 422]);
        expect(JSON.stringify(refused.body.errors)).toContain('x ');
      }
      expect(await net.jobs.CountRows(caller, { table_definition_ids: [table.id] })).toEqual({
        counts: [{ table_definition_id: table.id, rows: 5 }],
      });
    } finally {
      await other.stop();
    }
  });
});

describe('taking out of service', () => {
  it('is refused while others refer to the table, keeps the rows, and makes room for a new table', async () => {
    const [parent, child] = [nextId(), nextId()];
    const tables: TableInput[] = [
      { id: parent, columns: [{ name: 'id', data_type: 'integer', is_primary_key: true }] },
      { id: child, columns: [{ name: 'p', data_type: 'integer', foreign_key_table_id: parent }] },
    ];
    await deploy(net, tables);
    await create(net, parent, { id: 1 });
    const failure = await failureOf(net.metadata.DropTable(caller, { table_definition_id: parent }));
    expect(failure).toEqual({
      kind: 'validation_failed',
      errors: [`Table ${parent} is still referred to by Table ${child}.`],
    });
    for (const id of [child, parent])
      expect(await net.metadata.DropTable(caller, { table_definition_id: id })).toEqual({ dropped: true });
    expect(await net.metadata.DropTable(caller, { table_definition_id: parent })).toEqual({ dropped: false });
    expect((await net.call('GET', `/api/v1/table_data?table_definition_id=${parent}`)).status).toBe(404);
    const [retired] = await net.query('select id from retired_table where table_definition_id = $1', [parent]);
    expect(await net.query(`select count(*)::int as rows from b_1.r_${retired?.id}`)).toEqual([{ rows: 1 }]);
    await deploy(net, tables);
    expect(await list(net, parent)).toEqual([]);
  });

  it('drops a branch with everything in it', async () => {
    const id = nextId();
    await deploy(net, [{ id, branch_id: 77, columns: [{ name: 'x' }] }]);
    expect(await net.metadata.DropBranch({ ...caller, accountId: 2 }, { branch_id: 77 })).toEqual({ dropped: 0 });
    expect(await net.metadata.DropBranch(caller, { branch_id: 77 })).toEqual({ dropped: 1 });
    expect(await net.metadata.DropBranch(caller, { branch_id: 77 })).toEqual({ dropped: 0 });
    expect(await net.query("select 1 from pg_namespace where nspname = 'b_77'")).toEqual([]);
  });
});
