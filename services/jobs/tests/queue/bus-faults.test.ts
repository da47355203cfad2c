// The bus only wakes workers: jobs run once whether messages are lost, late, repeated or cannot be
// sent at all.
import { eventually } from '@almanac/testkit/eventually';
import { startTcpProxy, type TcpProxy } from '@almanac/testkit/network/tcp-proxy';
import { clusterUrlName } from '@almanac/testkit/postgres/postgres';
import pg from 'pg';
import { ended, givenImport, givenJobs, type Jobs, runImport } from '../given.ts';

let jobs: Jobs;
let proxy: TcpProxy | undefined;
let bus: pg.Client;

beforeAll(async () => {
  proxy = await startTcpProxy(process.env[clusterUrlName] as string);
  const through = (url: string) => (proxy as TcpProxy).urlOf(url);
  jobs = await givenJobs({ busUrl: through });
  bus = new pg.Client({ connectionString: jobs.busUrl });
  await bus.connect();
  jobs.neighbours.addTable({ key: 'countries' });
});
afterAll(async () => {
  await bus?.end();
  await proxy?.restore().catch(() => {}); // as it is already
  await jobs?.close();
  await proxy?.stop();
});

const look = 'jobs.work.requested';
const complete = (id: number) => jobs.call('POST', `/api/v1/imports/${id}/upload_complete`);
const loadsOf = async (id: number) => {
  const { load_id } = await jobs.context.prisma.import_table.findFirstOrThrow({ where: { import_id: id } });
  return jobs.neighbours.loads.filter((load) => load.load_id === load_id).length;
};

const everythingHeard = () =>
  eventually(async () => {
    const { rows } = await bus.query(
      "select count(*)::int as messages from bus.job where name = 'jobs.work' and state in ('created', 'retry', 'active')",
    );
    expect(rows).toEqual([{ messages: 0 }]);
  });

describe('the bus', () => {
  it('may be unavailable: requests are accepted and processed, and announced when it is back', async () => {
    await proxy?.cut();
    const { id } = await givenImport(jobs, { countries: 'code,name\nB1,x\n' });
    expect((await complete(id)).status).toBe(200);
    expect((await ended(jobs, `/imports/${id}`)).status).toBe('completed');
    expect(jobs.events.filter(({ payload }) => payload.id === id)).toEqual([]);
    await proxy?.restore();
    await eventually(() => expect(jobs.events.some(({ payload }) => payload.id === id)).toBe(true));
  });

  it('may repeat messages in any order, even after the work: the work is done once', async () => {
    jobs.neighbours.hold();
    const { id } = await givenImport(jobs, { countries: 'code,name\nB2,x\n' });
    await complete(id);
    const first = await jobs.announce(look, { account_id: 1 });
    const others = await Promise.all([1, 2, 3].map(() => jobs.announce(look, { account_id: 1 })));
    await eventually(async () => expect(await loadsOf(id)).toBe(1));
    for (const message of [...others.toReversed(), first]) await jobs.announce(look, {}, message);
    jobs.neighbours.release();
    const done = await ended(jobs, `/imports/${id}`);
    for (const message of [first, ...others]) {
      const again = { ...message, id: crypto.randomUUID(), occurred_at: '2026-01-01T00:00:00.000Z' };
      await jobs.announce(look, {}, again); // a day late, and under a new number
    }
    await everythingHeard();
    await runImport(jobs, { countries: 'code,name\nB3,x\n' }); // whatever they set off is over too
    expect(await loadsOf(id)).toBe(1);
    expect((await jobs.call('GET', `/api/v1/imports/${id}`)).body).toEqual(done);
    expect(done.actions.filter(({ action }: { action: string }) => action === 'completed')).toHaveLength(1);
  });

  it('holds no message while a job runs, however long it takes', async () => {
    jobs.neighbours.hold();
    const { id } = await givenImport(jobs, { countries: 'code,name\nB4,x\n' });
    await complete(id);
    await eventually(async () => expect(await loadsOf(id)).toBe(1));
    await everythingHeard();
    expect((await jobs.call('GET', `/api/v1/imports/${id}`)).body.status).toBe('processing');
    jobs.neighbours.release();
    expect((await ended(jobs, `/imports/${id}`)).status).toBe('completed');
  });
});
