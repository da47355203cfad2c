// kill -9 of any one process during the main job, or during a promotion and its deployment: the
// supervisor restarts it and the work completes, once. FAULT_SEED repeats the moments.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Api } from '@almanac/api-client/api';
import { givenAccount, givenDeployedTable, unique } from '@almanac/testkit/system/builders';
import { givenLocalSystem, type LocalSystem } from '@almanac/testkit/system/system';
import { fetchPatiently, isEverythingUp, kill, patienceMs, until } from '../support/killing.ts';
import { type Progress, steps } from '../support/main-job.ts';

const jobWithinMs = 900_000; // each process restarts several times, which takes its time
const seed = Number(process.env.FAULT_SEED ?? Date.now() % 1_000_000);

describe('a process that is killed during the main job', () => {
  let system: LocalSystem;
  let fetchAsBefore: () => void;

  beforeAll(async () => {
    fetchAsBefore = fetchPatiently();
    system = await givenLocalSystem();
  });

  beforeEach(() => until('everything is up', isEverythingUp));

  afterAll(async () => {
    fetchAsBefore();
    await system?.stop();
  });

  // Each is killed before steps that need it, and while imports run in the background; never during
  // a call, whose outcome would be unknown.
  it.each(['gateway', 'console', 'identity', 'metadata', 'data', 'jobs', 'billing', 'postgres'])(
    '%s is started again and the job completes',
    async (name) => {
      const account = await givenAccount();
      const almanac = await account.client();
      const progress = { disturb: () => kill(name) } as Progress;
      for (const [place, step] of steps.entries()) {
        if (place % 3 === 1) await kill(name);
        await step.run(almanac, progress);
      }
    },
    jobWithinMs,
  );

  // A call with an Idempotency-Key can be repeated without an answer, so the process dies during
  // it.
  it.each(['gateway', 'metadata', 'data', 'postgres'])(
    '%s is started again and a promotion and its deployment are done once, and whole',
    async (name) => {
      console.log(`FAULT_SEED=${seed}`);
      const account = await givenAccount();
      const api = await account.person();
      const table = await givenDeployedTable(api, { columns: before });
      const operations = Array.from({ length: rowCount }, (_, n) => ({
        operation: 'create',
        record: { code: `c${n}`, amount: String(n) },
      }));
      await api.post('/table_data/batch', { table_definition_id: table.id, operations });
      const promotion = await givenPromotion(api, table);
      expect((await disturb(api, name, `/promotions/${promotion}/promote`, 1)).body).toMatchObject({
        status: 'promoted',
      });
      const wish = { branch_id: table.branchId, table_definition_ids: [table.id] };
      const deployment = await api.post<{ id: number }>('/deployments', wish);
      const deployed = await disturb<{ status: string; actions: { action: string }[] }>(
        api,
        name,
        `/deployments/${deployment.id}/deploy`,
        2,
      );
      expect(deployed.body.status).toBe('deployed');
      expect(deployed.body.actions.filter(({ action }) => action === 'succeed')).toHaveLength(1);
      const path = `/table_data?table_definition_id=${table.id}&sort=svc_sk&per_page=${rowCount}`;
      const { data } = await api.get<{ data: { code: string; amount: number; more: null }[] }>(path);
      expect(data.map(({ code, amount, more }) => [code, amount, more])).toEqual(
        operations.map(({ record }, n) => [record.code, n, null]),
      );
    },
    jobWithinMs,
  );
});

const rowCount = 100;
const before = [
  { name: 'code', data_type: 'string', length: 5, is_primary_key: true },
  { name: 'amount', data_type: 'string', length: 20 },
];

/** From a branch of its own, with the amount cast to a number and one more column. */
async function givenPromotion(api: Api, table: { id: number; branchId: number }): Promise<number> {
  const branch = await api.post<{ id: number }>('/branches', { branch: { name: `Work ${unique()}` } });
  const copy = await api.post<{ id: number }>(`/table_definitions/${table.id}/clone`, { target_branch_id: branch.id });
  const { column_definitions } = await api.get<{ column_definitions: { id: number; name: string }[] }>(
    `/table_definitions/${copy.id}`,
  );
  const amount = column_definitions.find(({ name }) => name === 'amount') as { id: number };
  await api.patch(`/column_definitions/${amount.id}`, { column_definition: { data_type: 'integer', length: null } });
  await api.post('/column_definitions', {
    table_definition_id: copy.id,
    column_definition: { name: 'more', data_type: 'date' },
  });
  const tables = { from_branch_id: branch.id, to_branch_id: table.branchId, table_definition_ids: [copy.id] };
  return (await api.post<{ id: number }>('/promotions', tables)).id;
}

/** Kills the process at some moment of a call; returns the answer, which a repeat must equal. */
async function disturb<T>(api: Api, name: string, path: string, place: number): Promise<Answer<T>> {
  await until('everything is up', isEverythingUp);
  const headers = { 'Idempotency-Key': unique() };
  const ask = () => api.send<T>('POST', path, {}, { headers, signal: AbortSignal.timeout(4 * patienceMs) });
  const first = ask();
  await sleep((seed * 31 * place) % 400);
  await kill(name);
  const answer = await first;
  expect(answer.status).toBe(200);
  const again = await ask();
  expect([again.status, again.body]).toEqual([answer.status, answer.body]);
  return answer;
}
