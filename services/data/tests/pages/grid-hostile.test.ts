import { create, type DataNet, deploy, givenData } from '../given.ts';

// The first attempts of scanners: each breaks out of a text, a number, a name or a keyword, in
// PostgreSQL or another database.
const payloads = [
  "'",
  '"',
  '\\',
  "' OR '1'='1",
  "' OR 1=1-- -",
  "') OR ('1'='1",
  "%' OR '%'='",
  "' AND (SELECT 1 FROM pg_sleep(0))::text='",
  "';SELECT pg_sleep(0)--",
  "' UNION ALL SELECT NULL,NULL,version()-- -",
  "' AND 1=CAST((SELECT version()) AS int)-- ",
  "'||(SELECT 'x')||'",
  '$$;drop table deployed_table;$$',
  '1 AND 1=1',
  '1;drop schema b_1 cascade',
  '1) ORDER BY 1-- ',
  '(CASE WHEN (1=1) THEN 1 ELSE 1/(SELECT 0) END)',
  '(SELECT 1 FROM (SELECT pg_sleep(0))x)',
  'asc,(select 1)',
  'c_1001',
  '"x" desc nulls last, (select 1)--',
  'svc_live',
  '$1',
  '?',
  ':name',
  '{{7*7}}',
  '%s%n',
  '\u02bc OR 1=1-- ',
  '\uff07 OR 1=1-- ',
];

const filter = (more: Record<string, unknown>) => ({
  filterModel: { name: { filterType: 'text', type: 'contains', filter: 'x', ...more } },
});
const number = (more: Record<string, unknown>) => ({
  filterModel: { id: { filterType: 'number', type: 'inRange', filter: 1, filterTo: 2, ...more } },
});
const date = (more: Record<string, unknown>) => ({
  filterModel: { day: { filterType: 'date', type: 'inRange', dateFrom: '2024-01-01', dateTo: '2024-02-01', ...more } },
});
const sort = (more: Record<string, unknown>) => ({ sortModel: [{ colId: 'name', sort: 'asc', ...more }] });

/** Every text of the grid's body, and the status it may answer besides 400. */
const places: Record<string, { body: (payload: string) => Record<string, unknown>; also?: number }> = {
  'the key of the table': {
    body: (key) => ({ table_definition_id: undefined, table_definition_key: key, branch_id: 1 }),
    also: 404,
  },
  'the id of the table': { body: (table_definition_id) => ({ table_definition_id }) },
  startRow: { body: (startRow) => ({ startRow }) },
  'a filtered column': {
    body: (name) => ({ filterModel: { [name]: { filterType: 'text', type: 'equals', filter: 'x' } } }),
  },
  filterType: { body: (filterType) => filter({ filterType }) },
  'the operator': { body: (type) => filter({ type }) },
  'the text': { body: (text) => filter({ filter: text }), also: 200 },
  'the text that is equal': { body: (text) => filter({ type: 'equals', filter: text }), also: 200 },
  'a value of a set': { body: (text) => filter({ filterType: 'set', values: [text] }), also: 200 },
  'a value of a set of numbers': {
    body: (text) => ({ filterModel: { id: { filterType: 'set', values: [text] } } }),
    also: 200,
  },
  'the connective': {
    body: (operator) => filter({ operator, conditions: [{ filterType: 'text', type: 'equals', filter: 'x' }] }),
  },
  'a condition': {
    body: (text) => filter({ operator: 'OR', conditions: [{ filterType: 'text', type: 'endsWith', filter: text }] }),
    also: 200,
  },
  'a number': { body: (text) => number({ filter: text }) },
  'the end of a range': { body: (filterTo) => number({ filterTo }) },
  'a date': { body: (dateFrom) => date({ dateFrom }) },
  'the end of days': { body: (dateTo) => date({ dateTo }) },
  'a sorted column': { body: (colId) => sort({ colId }) },
  'the direction': { body: (direction) => sort({ sort: direction }) },
  'the kind of order': { body: (type) => sort({ type }) },
  as_of: { body: (as_of) => ({ as_of }) },
};

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
  const columns = [
    { name: 'id', data_type: 'integer', is_primary_key: true },
    { name: 'name', length: 100 },
    { name: 'day', data_type: 'date' },
  ];
  await deploy(net, [{ id: 1, key: 'things', columns }]);
  for (const [id, name] of payloads.entries()) await create(net, 1, { id, name, day: '2024-01-15' });
});

afterAll(() => net.stop());

const grid = (body: Record<string, unknown>) =>
  net.call('POST', '/api/v1/table_data/grid', { table_definition_id: 1, startRow: 0, endRow: 100, ...body });

describe('SQL in the grid', () => {
  it.each(Object.entries(places))('is text as %s', async (_, { body, also }) => {
    for (const payload of payloads) {
      const answer = await grid(body(payload));
      expect({ payload, status: answer.status }).toEqual({ payload, status: answer.status === also ? also : 400 });
      const text = ((answer.body.errors ?? []) as string[]).join(' ').replaceAll(payload, '');
      expect(text).not.toMatch(/syntax error|does not exist|pg_|deployed_table|b_1\./);
    }
    expect((await grid({})).body.rowCount).toBe(payloads.length);
  });

  it('is found as the value of a row', async () => {
    for (const [id, payload] of payloads.entries()) {
      const { body } = await grid(filter({ type: 'equals', filter: payload }));
      expect(body.rows.map((row: { id: number }) => row.id)).toEqual([id]);
      const found = await grid(filter({ filterType: 'set', values: [payload] }));
      expect(found.body.rows.map((row: { id: number }) => row.id)).toEqual([id]);
      const holding = payloads.filter((each) => each.toLowerCase().includes(payload.toLowerCase()));
      expect([payload, (await grid(filter({ filter: payload }))).body.rowCount]).toEqual([payload, holding.length]);
    }
  });
});
