// 200 people write rows of a large table while deployments add to it: every acknowledged write is
// stored with its last value, and none was answered 500. The longest wait is printed.
import { createTestKeys } from '@almanac/testkit/calls/keys';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import pg from 'pg';
import { type DataProcess, startData } from '../process.ts';
import { after, before, fill, large, rows } from './large-tables-given.ts';

const writers = 200;
const rounds = 3;

let database: TestDatabase;
let data: DataProcess;
let test: pg.Client;

beforeAll(async () => {
  const keys = await createTestKeys();
  database = await createTestDatabase('data');
  test = new pg.Client({ connectionString: database.url });
  await test.connect();
  data = await startData(database.url, keys);
  await data.apply('first', before);
  await fill((text, values) => test.query(text, values as unknown[]));
});

afterAll(async () => {
  await data.end();
  await test.end();
  await database.drop();
});

/** The last acknowledged text of each row, by its key. */
const acknowledged = new Map<number, string>();
const statuses = new Map<number, number>();
let longestMs = 0;

async function ask(method: string, path: string, record: object) {
  const start = performance.now();
  const answer = await data.call(method, path, { table_definition_id: large, record });
  longestMs = Math.max(longestMs, performance.now() - start);
  statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  return answer;
}

/** Creates a row and changes it, over and over; `wrote`: once for each row. */
async function write(writer: number, isOver: () => boolean, wrote: () => void): Promise<void> {
  for (let n = 1; !isOver(); n += 1) {
    const id = rows + n * writers + writer;
    const made = await ask('POST', '/api/v1/table_data', { id, name: 'new', note: 'made' });
    if (made.status === 201) {
      acknowledged.set(id, 'made');
      const path = `/api/v1/table_data/${made.body.record.svc_sk}`;
      if ((await ask('PATCH', path, { note: `by ${writer}` })).status === 200) acknowledged.set(id, `by ${writer}`);
    }
    wrote();
  }
}

it('no write is lost, none is answered 500', async () => {
  let written = 0;
  let isOver = false;
  const waiting: { until: number; go: () => void }[] = [];
  const wrote = () => {
    written += 1;
    for (const each of waiting) if (written >= each.until) each.go();
  };
  const someRows = () => new Promise<void>((go) => waiting.push({ until: written + writers, go }));
  const working = Array.from({ length: writers }, (_, writer) => write(writer, () => isOver, wrote));
  await someRows();
  const quietMs = longestMs;
  longestMs = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const more = Array.from({ length: round }, (_, i) => ({ name: `more_${i}`, data_type: 'date' }));
    const tables = after.map((table) => ({ ...table, version: round + 1 }));
    const [table] = tables as [(typeof after)[number]];
    table.columns = [...table.columns, ...more];
    await data.apply(`round ${round}`, tables);
    await someRows();
  }
  isOver = true;
  await Promise.all(working);

  console.log(
    `${writers} writers, ${written} rows, ${rounds} deployments: longest wait ${Math.round(longestMs)} ms (before: ${Math.round(quietMs)} ms); answers ${JSON.stringify([...statuses])}`,
  );
  for (const status of statuses.keys()) expect([200, 201, 503]).toContain(status);
  const { rows: found } = await test.query(
    `select c_${large}001 as id, c_${large}003 as note from b_1.t_${large} where c_${large}001 > ${rows} and not svc_is_deleted`,
  );
  expect(new Map(found.map(({ id, note }) => [id, note]))).toEqual(acknowledged);
  expect(found).toHaveLength(acknowledged.size);
}, 600_000);
