import { pgSql } from '@almanac/service-kit/postgres/database';
import { randomOf } from '@almanac/testkit/random';
import { freshTableRows } from '../../src/imports/fresh-table.ts';
import { sweepLoads } from '../../src/imports/rejected-rows.ts';
import { differencesOf, liveRows } from '../differences/comparing.ts';
import { load } from '../files.ts';
import { caller, create, deploy, failureOf } from '../given.ts';
import { file_columns, givenTable, net, nextId, overLoads, shown } from './loads.ts';

overLoads();

let loads = 0;
function newId(): string {
  loads += 1;
  return `dry-run-${process.pid}-${loads}`;
}

type Window = { kind?: string; start_row?: number; end_row?: number };

async function read(load_id: string, { kind = '', start_row = 0, end_row = 1000 }: Window = {}, as = caller) {
  const parts: Buffer[] = [];
  for await (const { chunk } of net.jobs.ReadLoadChanges(as, { load_id, kind, start_row, end_row }))
    parts.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(parts).toString());
}

/** Tries a file on a table that has the rows a, b and c. */
async function givenDryRun(file: string, options = {}) {
  const { table } = await givenTable();
  for (const code of ['a', 'b', 'c']) await create(net, table, { code, name: code.toUpperCase(), size: 1 });
  const load_id = newId();
  const result = await load(net, table, file, {
    file_columns,
    dry_run: true,
    load_id,
    pattern: 'full',
    allow_mass_delete: true,
    ...options,
  });
  return { table, load_id, result };
}

describe('a dry run', () => {
  it('keeps what it would change, and changes nothing', async () => {
    const { table, load_id, result } = await givenDryRun('a,Anna,1,\nb,B,1,\nd,D,5,A\n');
    expect(result).toMatchObject({ status: 'completed', inserted: 1, updated: 1, deleted: 1, unchanged: 1 });
    const ids = new Map((await liveRows(net.call, table)).map((row) => [row.code, row.svc_sk]));
    expect(await read(load_id)).toEqual({
      rows: [
        { kind: 'updated', key: { code: 'a' }, id: ids.get('a'), cells: { name: { from: 'A', to: 'Anna' } } },
        {
          kind: 'deleted',
          key: { code: 'c' },
          id: ids.get('c'),
          cells: { name: { from: 'C', to: null }, size: { from: 1, to: null } },
        },
        {
          kind: 'created',
          key: { code: 'd' },
          id: null,
          cells: { name: { from: null, to: 'D' }, size: { from: null, to: 5 }, grp: { from: null, to: 'A' } },
        },
      ],
      rowCount: 3,
      counts: { created: 1, updated: 1, deleted: 1 },
      truncated: false,
    });
    expect(await shown(table)).toEqual(['a|A|1|', 'b|B|1|', 'c|C|1|']);
  });

  it('keeps nothing when nothing would change, when it fails and when it is none', async () => {
    const none = { rows: [], rowCount: 0, counts: { created: 0, updated: 0, deleted: 0 }, truncated: false };
    expect(await read((await givenDryRun('a,A,1,\nb,B,1,\nc,C,1,\n')).load_id)).toEqual(none);
    expect(await read((await givenDryRun('a,,1,\n')).load_id)).toEqual(none);
    const { load_id } = await givenDryRun('a,X,1,\n', { dry_run: false });
    expect(await net.query('select * from changed_block where load_id = $1', [load_id])).toEqual([]);
  });

  it('has windows of each kind across its blocks', async () => {
    const { table } = await givenTable();
    const name = (n: number) => `${n}${'.'.repeat(15)}`;
    const code = (n: number) => String(n).padStart(5, '0');
    const rows = Array.from({ length: 4_000 }, (_, n) => n);
    const half = rows.filter((n) => n % 2 === 0);
    await load(net, table, half.map((n) => `${code(n)},${name(n)},1,\n`).join(''), { file_columns });
    const load_id = newId();
    // Of eight rows: four are new, two change, one is deleted, one stays.
    const file = rows.filter((n) => n % 8 !== 0).map((n) => `${code(n)},${name(n)},${n % 8 === 2 ? 1 : 2},\n`);
    const result = await load(net, table, file.join(''), {
      file_columns,
      dry_run: true,
      load_id,
      pattern: 'full',
      allow_mass_delete: true,
    });
    expect(result).toMatchObject({ inserted: 2_000, updated: 1_000, deleted: 500 });
    const [{ blocks } = {}] = await net.query('select count(*)::int as blocks from changed_block where load_id = $1', [
      load_id,
    ]);
    expect(blocks).toBeGreaterThan(2);
    const kindOf = (n: number) =>
      n % 2 === 1 ? 'created' : n % 8 === 0 ? 'deleted' : n % 8 === 2 ? 'unchanged' : 'updated';
    const seed = Date.now() % 1_000_000;
    console.log(`seed ${seed}`);
    const random = randomOf(seed);
    // The last row of the first block, and the first of the next.
    const [first] = await net.query(
      'select created + updated + deleted as n from changed_block where load_id = $1 and number = 0',
      [load_id],
    );
    const changed = rows.filter((row) => kindOf(row) !== 'unchanged').map(code);
    for (const start_row of [Number(first?.n) - 1, Number(first?.n)]) {
      const found = await read(load_id, { start_row, end_row: start_row + 1 });
      expect(found.rows.map(({ key }: { key: { code: string } }) => key.code)).toEqual([changed[start_row]]);
    }
    for (let n = 0; n < 40; n += 1) {
      const kind = ['', 'created', 'updated', 'deleted'][random(4)] as string;
      const start_row = random(3_700);
      const end_row = start_row + 1 + random(1_000);
      const expected = rows.filter((row) => (kind === '' ? kindOf(row) !== 'unchanged' : kindOf(row) === kind));
      const found = await read(load_id, { kind, start_row, end_row });
      expect({
        seed,
        kind,
        start_row,
        end_row,
        codes: found.rows.map(({ key }: { key: { code: string } }) => key.code),
        count: found.rowCount,
      }).toEqual({
        seed,
        kind,
        start_row,
        end_row,
        codes: expected.slice(start_row, end_row).map(code),
        count: expected.length,
      });
    }
  });

  it('keeps the first rows of a file for an empty table', async () => {
    const { table } = await givenTable();
    const load_id = newId();
    const file = Array.from({ length: freshTableRows }, (_, n) => `${String(n).padStart(5, '0')},n,,\n`).join('');
    expect(await load(net, table, file, { file_columns, dry_run: true, load_id })).toMatchObject({
      inserted: freshTableRows,
    });
    const { rows, rowCount } = await read(load_id, { end_row: 2 });
    expect(rowCount).toBe(freshTableRows);
    expect(rows).toEqual(
      ['00000', '00001'].map((code) => ({
        kind: 'created',
        key: { code },
        id: null,
        cells: { name: { from: null, to: 'n' } },
      })),
    );
    expect(await shown(table)).toEqual([]);
  });

  it('keeps no more bytes than a load may, and says so', async () => {
    const table = nextId();
    await deploy(net, [
      {
        id: table,
        columns: [
          { name: 'code', length: 5, is_primary_key: true },
          { name: 'more', data_type: 'text' },
        ],
      },
    ]);
    const load_id = newId();
    const text = 'x'.repeat(900_000);
    const file = Array.from({ length: 20 }, (_, n) => `${String(n).padStart(2, '0')},${text}\n`).join('');
    await load(net, table, file, { file_columns: ['code', 'more'], dry_run: true, load_id });
    const { rows, rowCount, counts, truncated } = await read(load_id, { end_row: 1 });
    expect({ rows: rows.length, rowCount, created: counts.created, truncated }).toEqual({
      rows: 1,
      rowCount: 18,
      created: 20,
      truncated: true,
    });
    expect((await read(load_id)).rows).toHaveLength(18);
  });

  it('is seen with the right to view the table, by its account, for a day', async () => {
    const { table, load_id } = await givenDryRun('a,X,1,\n');
    const view = { action: 'view', resource_type: 'table_definition', resource_id: table } as const;
    net.rights.set(31, { license_type: 'end_user', permissions: [view] });
    net.rights.set(32, { license_type: 'end_user', permissions: [] });
    const person = { ...caller, applicationId: undefined };
    expect((await read(load_id, {}, { ...person, userId: 31 })).rowCount).toBe(3);
    const kindOf = async (attempt: Promise<unknown>) => (await failureOf(attempt)).kind;
    expect(await kindOf(read(load_id, {}, { ...person, userId: 32 }))).toBe('forbidden');
    expect(await kindOf(read(load_id, {}, { ...caller, accountId: 2 }))).toBe('not_found');
    expect(await kindOf(read('nowhere'))).toBe('not_found');
    expect(await kindOf(read(load_id, { end_row: 1001 }))).toBe('bad_request');
    expect(await kindOf(read(load_id, { kind: 'moved' }))).toBe('bad_request');
    await net.query(`update finished_load set finished_at = now() - interval '25 hours' where load_id = $1`, [load_id]);
    expect(await kindOf(read(load_id))).toBe('not_found');
    await sweepLoads(pgSql(net.context.pools.quiet));
    expect(await net.query('select * from changed_block where load_id = $1', [load_id])).toEqual([]);
  });
});

it('a dry run says what the load of the same file then does', async () => {
  const seed = Number(process.env.DRY_RUN_SEED ?? Date.now() % 1_000_000);
  console.log(`DRY_RUN_SEED=${seed}`);
  const random = randomOf(seed);
  const { table } = await givenTable();
  const columns = ['name', 'size', 'grp'];
  for (let n = 0; n < 15; n += 1) {
    const pattern = ['full', 'incremental', 'incremental_with_delete'][random(3)] as string;
    const codes = Array.from({ length: 12 }, (_, i) => `c${i}`).filter(() => random(2) === 0);
    const line = (code: string) => [code, `n${random(3)}`, random(3), ['', 'A', 'B'][random(3)]].join(',');
    const file = codes.map(
      (code) => `${line(code)}${pattern === 'incremental_with_delete' ? `,${random(4) === 0 ? 'd' : 'u'}` : ''}\n`,
    );
    if (file.length === 0) continue;
    const options = {
      pattern,
      allow_mass_delete: true,
      file_columns: pattern === 'incremental_with_delete' ? [...file_columns, 'svc_transaction_code'] : file_columns,
    };
    const load_id = newId();
    const before = await liveRows(net.call, table);
    const tried = await load(net, table, file.join(''), { ...options, dry_run: true, load_id });
    const { inserted, updated, deleted } = await load(net, table, file.join(''), options);
    expect(tried).toMatchObject({ inserted, updated, deleted });
    const expected = differencesOf(before, await liveRows(net.call, table), 'code', columns).map(
      ({ id_left: id, id_right: _, ...difference }) => ({ ...difference, id }),
    );
    expect({ seed, pattern, rows: (await read(load_id)).rows }).toEqual({ seed, pattern, rows: expected });
  }
});
