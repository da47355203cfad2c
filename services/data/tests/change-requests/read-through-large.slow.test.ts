// Counts through a change request over a table so large that its counts are cached: they start from
// the count of the table, and follow what the request proposes and what others write.
import { eventually } from '@almanac/testkit/eventually';
import { type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import { added, changed, deletion, restoration } from '../operations.ts';
import { recordStatements, type SentStatements } from '../sent-statements.ts';
import { patch, remove, restore } from '../versions.ts';
import { openRequest, propose } from './requests.ts';

const rows = 25_000;
const table: TableInput = {
  id: 1,
  columns: [
    { name: 'id', data_type: 'integer', is_primary_key: true },
    { name: 'part', data_type: 'integer' },
    { name: 'name', length: 40 },
  ],
};

let net: DataNet;
let statements: SentStatements;

beforeAll(async () => {
  net = await givenData();
  await deploy(net, [table]);
  await net.query(
    `insert into b_1.t_1 (svc_created_at, svc_updated_at, c_1001, c_1002, c_1003)
     select clock_timestamp(), clock_timestamp(), n, n % 5, 'n' || n % 100 from generate_series(1, $1::int) n`,
    [rows],
  );
  await net.query('vacuum analyze b_1.t_1');
  statements = recordStatements();
});

afterAll(async () => {
  statements.stop();
  await net.stop();
});

async function countOf(model: object, request?: number): Promise<number> {
  const { status, body } = await net.call('POST', '/api/v1/table_data/grid', {
    table_definition_id: 1,
    startRow: 0,
    endRow: 1 + (statements.texts.length % 1_000),
    ...(request !== undefined && { change_request_id: request }),
    ...model,
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.rowCount;
}

const partIs = (value: number) => ({ filterModel: { part: { filterType: 'number', type: 'equals', filter: value } } });
const nameIs = (value: string) => ({ filterModel: { name: { filterType: 'text', type: 'equals', filter: value } } });

// `more`: how many rows the request adds to those that match.
it.each([
  { of: 'every row', model: {}, whole: rows, more: 1 },
  { of: 'a filter on a column that it changes', model: partIs(2), whole: rows / 5, more: 1 },
  { of: 'a filter on another column', model: nameIs('n7'), whole: rows / 100, more: 1 },
  { of: 'deleted rows, too', model: { include_deleted: true }, whole: rows, more: 2 },
])('a count of $of starts from that of the table, and stays exact', async ({ model, whole, more }) => {
  expect(await countOf(model)).toBe(whole);
  const [a, b, c, d] = [7, 107, 207, 307]; // all in part 2, and named n7
  await remove(net.call, 1, [d]);
  const request = await openRequest(net);
  const made = await propose(net.call, request, 1, [
    added({ id: 100_000 + request, part: 2, name: 'n7' }),
    added({ id: 200_000 + request, part: 3, name: 'n8' }),
    changed(a, { part: 3 }),
    changed(8, { part: 2 }),
    changed(13, { part: 2 }),
    deletion(b),
    deletion(12),
    restoration(d),
  ]);
  expect(made.status).toBe(201);
  const expectMore = async () => expect(await countOf(model, request)).toBe((await countOf(model)) + more);
  await eventually(async () => {
    await expectMore();
    statements.texts.length = 0;
    await countOf(model, request);
    expect(statements.texts.join()).toMatch(/offset 0\) as counted\(c\) cross join lateral/);
  });
  for (const part of [4, 2]) {
    await patch(net.call, 1, c, { part });
    await expectMore();
  }
  await restore(net.call, 1, [d]);
});
