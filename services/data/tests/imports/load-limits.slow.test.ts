// The limits of the loads of one account, of connections, time and kept rows; and that loads end
// when they are cancelled.
import { eventually } from '@almanac/testkit/eventually';
import pg from 'pg';
import { loadLimits } from '../../src/imports/staging/load-limits.ts';
import { load, rejected } from '../files.ts';
import { caller, deploy } from '../given.ts';
import { file_columns, givenTable, net, nextId, overLoads, shown } from './loads.ts';

overLoads();

/** Keeps others from changing these tables until it is released. */
async function hold(tables: number[]): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: net.database.url });
  await client.connect();
  await client.query('begin');
  await client.query(`lock table ${tables.map((table) => `b_1.t_${table}`).join(', ')} in exclusive mode`);
  return () => client.end();
}

const sessionsOf = (pool: string) =>
  net.query(
    'select pid, query, wait_event_type as waits from pg_stat_activity where datname = current_database() and application_name like $1',
    [`almanac-data-${pool} load %`],
  );

async function waitingMerge(): Promise<number> {
  return eventually(async () => {
    const [session] = await sessionsOf('work');
    expect(session?.waits).toBe('Lock');
    return session?.pid as number;
  });
}

describe('a load that is cancelled', () => {
  it('ends in the middle of its merge, also while all connections for work are in use', async () => {
    const { table } = await givenTable();
    const release = await hold([table]);
    const { work } = net.context.pools;
    const taken: pg.PoolClient[] = [];
    try {
      const loading = load(net, table, 'a,1,,\n', { file_columns, load_id: 'held' });
      await waitingMerge();
      while (taken.length < 4) taken.push(await work.connect());
      const answer = await net.jobs.CancelLoad(caller, { load_id: 'held', table_definition_id: table });
      expect(answer).toMatchObject({ status: 'cancelled', inserted: 0 });
      await eventually(async () => expect(await sessionsOf('work')).toEqual([]));
      const outcome = await loading.catch(({ kind }: { kind: string }) => kind);
      expect(['unavailable', 'cancelled']).toContain(typeof outcome === 'string' ? outcome : outcome.status);
    } finally {
      for (const client of taken) client.release();
      await release();
    }
    expect(await shown(table)).toEqual([]);
    expect(await load(net, table, 'a,1,,\n', { file_columns, load_id: 'held' })).toMatchObject({
      status: 'cancelled',
    });
  });

  it('ends while its file is being sent', async () => {
    const { table } = await givenTable();
    let finish = () => {};
    async function* slow() {
      yield Buffer.from('a,1,,\n');
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
    }
    const loading = load(net, table, slow(), { file_columns, load_id: 'slow' });
    const ending = loading.catch((error: unknown) => error);
    await eventually(async () => expect((await sessionsOf('quiet'))[0]?.query).toMatch(/^copy/));
    expect(await net.jobs.CancelLoad(caller, { load_id: 'slow', table_definition_id: table })).toMatchObject({
      status: 'cancelled',
    });
    await eventually(async () => expect(await sessionsOf('quiet')).toEqual([]));
    finish();
    await ending;
    expect(await shown(table)).toEqual([]);
  });

  it('is the only one to end', async () => {
    const { table } = await givenTable();
    const release = await hold([table]);
    const loading = load(net, table, 'a,1,,\n', { file_columns, load_id: 'mine' });
    await waitingMerge();
    const theirs = { ...caller, accountId: 2 };
    await net.jobs.CancelLoad(theirs, { load_id: 'mine', table_definition_id: table });
    await net.jobs.CancelLoad(caller, { load_id: 'another', table_definition_id: table });
    await release();
    expect(await loading).toMatchObject({ status: 'completed', inserted: 1 });
  });
});

describe('a load with more rejected rows than it may have', () => {
  const most = loadLimits.rejectedRows;
  const kept = async (loadId: string) => {
    const lines = (await rejected(net, loadId)).trimEnd().split('\n');
    return { rows: lines.length - 1, first: lines[1], last: lines.at(-1) };
  };

  it('fails, shows the first ones and keeps as many as the limit, in little space', async () => {
    const { table } = await givenTable();
    const [before] = await net.query("select pg_total_relation_size('rejected_block')::int as bytes");
    const csv = Array.from({ length: most + 10 }, (_, i) => `k${i},ok,bad,\n`).join('');
    const result = await load(net, table, `ok,1,,\n${csv}`, {
      file_columns,
      on_error: 'reject_rows',
      load_id: 'far too many',
    });
    expect(result).toMatchObject({ status: 'failed', rows_read: most + 11, rejected: most + 10, inserted: 0 });
    expect(result.errors).toEqual([
      `${most + 10} of ${most + 11} rows break rules, and a load may reject ${most}; nothing was loaded.` +
        ` The first ${most} are kept: correct what they have in common and try again.`,
    ]);
    expect([result.rejections.length, result.rejections[0]?.row]).toEqual([100, 2]);
    expect(await shown(table)).toEqual([]);
    expect(await kept('far too many')).toEqual({
      rows: most,
      first: 'k0,ok,bad,,2,size must be an integer from -2147483648 to 2147483647',
      last: `k${most - 1},ok,bad,,${most + 1},size must be an integer from -2147483648 to 2147483647`,
    });
    const [after] = await net.query("select pg_total_relation_size('rejected_block')::int as bytes");
    expect((Number(after?.bytes) - Number(before?.bytes)) / most).toBeLessThan(60);
  });

  it('has a limit of bytes, too', async () => {
    const { table } = await givenTable();
    const rows = 80;
    const csv = Array.from({ length: rows }, (_, i) => `k${i},${'x'.repeat(1024 * 1024)},,\n`).join('');
    const result = await load(net, table, csv, { file_columns, on_error: 'reject_rows', load_id: 'large' });
    expect(result.status).toBe('failed');
    expect(result.errors[0]).toMatch(
      /^The 80 rows that break rules hold more than the 64 MB that a load may reject; nothing was loaded. The first 63 are kept/,
    );
    expect((await kept('large')).rows).toBe(63);
  });

  it.each([
    ['one key again and again', Array.from({ length: most + 2 }, () => 'k,1,,\n').join('')],
    ['references to nothing', Array.from({ length: most + 1 }, (_, i) => `k${i},1,,ZZZ\n`).join('')],
  ])('of %s takes time in proportion to it', async (_what, csv) => {
    const { table } = await givenTable();
    await load(net, table, 'first,1,,\n', { file_columns });
    const result = await load(net, table, csv, { file_columns, on_error: 'reject_rows' });
    expect([result.status, result.rejected]).toEqual(['failed', most + 1]);
    const fewer = csv.slice(csv.indexOf('\n', 20) + 1);
    const answer = await load(net, table, fewer, { file_columns, on_error: 'reject_rows', pattern: 'full' });
    expect(answer.errors[0]).not.toMatch(/may reject/);
  });
});

describe('each load ends', () => {
  it('as its statements have a time-out', async () => {
    const { table } = await givenTable();
    await net.query('create table if not exists seen (setting text)');
    await net.query(
      `create or replace function see() returns trigger language plpgsql as $$ begin
         insert into public.seen values (current_setting('statement_timeout')); return null; end $$`,
    );
    await net.query(`create trigger see after insert on b_1.t_${table} execute function public.see()`);
    await load(net, table, 'a,1,,\n', { file_columns });
    expect(await net.query('select setting from seen')).toEqual([{ setting: '1h' }]);
  });

  it('as failed after the time-out, so that it is not retried', async () => {
    const { table } = await givenTable();
    const release = await hold([table]);
    const loading = load(net, table, 'a,1,,\n', { file_columns });
    await net.query('select pg_cancel_backend($1)', [await waitingMerge()]); // the same code as a time-out
    expect(await loading).toMatchObject({
      status: 'failed',
      errors: ['A step took longer than 60 minutes; nothing was loaded. Split the file.'],
    });
    await release();
  });

  it('as failed when it takes more space than is left', async () => {
    const { table } = await givenTable();
    const result = await load(net, table, 'a,1,,\nb,2,,\n', { file_columns, most_bytes: 10 });
    expect(result).toMatchObject({
      status: 'failed',
      errors: [
        "The rows take more than the 10 bytes that are left of the account's storage. Delete what isn't needed, or ask for more.",
      ],
    });
    expect((await load(net, table, 'a,1,,\n', { file_columns, most_bytes: 6 })).status).toBe('completed');
  });
});

describe('the loads of one account', () => {
  it('leave turns to other accounts and to deployments', async () => {
    const mine: number[] = [];
    for (let i = 0; i < 6; i += 1) mine.push((await givenTable()).table);
    const release = await hold(mine);
    const loads = mine.map((table) => load(net, table, 'a,1,,\n', { file_columns }));
    await eventually(async () => expect((await sessionsOf('work')).length).toBeGreaterThan(0));
    const definition = {
      id: nextId(),
      branch_id: 7,
      columns: [{ name: 'code', length: 10, is_primary_key: true }],
    };
    await deploy(net, [definition], { accountId: 2 });
    await deploy(net, [{ ...definition, id: nextId(), branch_id: 1 }]);
    const theirs = await load(net, definition.id, 'x\n', { file_columns: ['code'] }, { ...caller, accountId: 2 });
    expect(theirs).toMatchObject({ status: 'completed', inserted: 1 });
    expect((await sessionsOf('work')).length).toBe(2);
    await release();
    for (const result of await Promise.all(loads)) expect(result.status).toBe('completed');
  });
});
