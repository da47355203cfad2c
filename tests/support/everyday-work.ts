// Concurrent calls of every service behind the gateway, while something is done to the system: no
// call may be refused, no acknowledged write may be missing, and none may be there twice.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '@almanac/api-client/api';
import { eventually } from '@almanac/testkit/eventually';
import { type DeployedTable, givenDeployedTable, unique } from '@almanac/testkit/system/builders';

const lanes = 2;
// Between the rounds of a lane: still several calls in every phase of a change, while the processor
// is left to what starts.
const restMs = 100;

export type EverydayWork = {
  /**
   * Runs `change` during the work, which starts before it and ends after it. Returns the number of
   * calls; fails when one of them was not answered with 2xx, or a write is not there exactly once.
   */
  during(change: () => Promise<void>): Promise<number>;
};

type Work = { refused: string[]; calls: number; written: string[]; domains: string[]; changed: Set<string> };

/** A table to work on, and the work. `api`: an administrator of a plan with calls to spare. */
export async function givenEverydayWork(api: Api): Promise<EverydayWork> {
  // Without a key, so that a row that is written twice is there twice.
  const table = await givenDeployedTable(api, { columns: [{ name: 'code', data_type: 'string', length: 40 }] });
  return {
    during: async (change) => {
      const work: Work = { refused: [], calls: 0, written: [], domains: [], changed: new Set() };
      let isOver = false;
      const running = Array.from({ length: lanes }, async () => {
        for (; !isOver; await sleep(restMs)) await doOne(api, table, work);
      });
      try {
        // Some calls before the change, and some after it.
        await calls(work, 10);
        await change();
        await calls(work, 10);
      } finally {
        isOver = true;
        await Promise.all(running);
      }
      expect(work.refused).toEqual([]);
      await expectWritten(api, table, work);
      return work.calls;
    },
  };
}

const calls = (work: Work, more: number) => {
  const wanted = work.calls + more;
  return eventually(() => expect(work.calls).toBeGreaterThanOrEqual(wanted), { withinMs: 120_000 });
};

/** Reads and writes of every service behind the gateway, one after the other. */
async function doOne(api: Api, table: DeployedTable, work: Work): Promise<void> {
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T | undefined> => {
    const answer = await api
      .send<T>(method, path, body)
      .catch((error: unknown) => ({ status: String(error), body: undefined }));
    work.calls += 1;
    const isGood = typeof answer.status === 'number' && answer.status >= 200 && answer.status < 300;
    if (isGood) return answer.body;
    work.refused.push(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return undefined;
  };
  const ofTable = { table_definition_id: table.id };
  const code = unique();
  const made = await ask<{ record: { svc_sk: number } }>('POST', '/table_data', { ...ofTable, record: { code } });
  if (made) work.written.push(code);
  await ask('POST', '/table_data/grid', { ...ofTable, startRow: 0, endRow: 10 });
  if (made) {
    const row = made.record.svc_sk;
    await ask('GET', `/table_data/${row}?table_definition_id=${table.id}`);
    const changed = `${code}-changed`;
    if (await ask('PATCH', `/table_data/${row}`, { ...ofTable, record: { code: changed } })) work.changed.add(changed);
  }
  const name = `Domain ${unique()}`;
  if (await ask('POST', '/domains', { domain: { name } })) work.domains.push(name);
  await ask('GET', '/table_definitions?per_page=5');
  await ask('POST', '/user_groups', { user_group: { name: `Group ${unique()}` } });
  await ask('GET', '/users');
  await ask('POST', '/import_mappings', mappingOf(table));
  await ask('GET', '/imports');
  await ask('GET', '/account');
  await ask('GET', '/usage');
}

const mappingOf = (table: DeployedTable) => ({
  table_definition_id: table.id,
  import_mapping: {
    name: `Mapping ${unique()}`,
    column_mappings: [{ source_column: 'Code', target_column: 'code' }],
  },
});

/** Every acknowledged write is there, once; a refused one has failed the test before. */
async function expectWritten(api: Api, table: DeployedTable, { written, changed, domains }: Work): Promise<void> {
  const codes: string[] = [];
  for (let startRow = 0; ; startRow += 1_000) {
    const window = { table_definition_id: table.id, startRow, endRow: startRow + 1_000 };
    const { rows } = await api.post<{ rows: { code: string }[] }>('/table_data/grid', window);
    codes.push(...rows.map((row) => row.code));
    if (rows.length < 1_000) break;
  }
  const mine = new Set(written);
  const there = codes.filter((code) => mine.has(code.replace('-changed', '')));
  const wanted = written.map((code) => (changed.has(`${code}-changed`) ? `${code}-changed` : code));
  expect(there.toSorted()).toEqual(wanted.toSorted());
  const { data, meta } = await api.get<{ data: { name: string }[]; meta: { total_count: number } }>(
    `/domains?per_page=1000&sort=-id`,
  );
  expect(meta.total_count).toBeGreaterThanOrEqual(domains.length);
  expect(data.map(({ name }) => name)).toEqual(expect.arrayContaining(domains));
}
