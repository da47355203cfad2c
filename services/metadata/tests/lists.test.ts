// Every list of metadata takes the same parameters (design 3.11): q over each of its fields, sort
// by each, pages. The results are compared with a plain implementation of the rules.
import { type Answer, givenAdmin, keyColumn, type Metadata, startMetadata } from './given.ts';
import { givenWork, type Work } from './promotion-given.ts';

type Item = Record<string, string | number | boolean | null> & { id: number };

let metadata: Metadata;
let work: Work;

beforeAll(async () => {
  metadata = await startMetadata();
  work = await givenWork(metadata);
  await fill();
});
afterAll(() => metadata.stop());

// Creates items of every kind, with and without a value in each nullable field.
async function fill(): Promise<void> {
  const { account, admin, creator } = work;
  await admin.post('/domains', { name: 'Law 100%', description: 'Rules, and a_b' });
  await admin.post('/branches', { name: 'next', description: 'For next year', branch_type: 'private' });
  const text = { name: 'name', data_type: 'string', length: 40, description: 'As people say it' };
  const countries = await work.table('Countries', [keyColumn, text, { name: 'area', data_type: 'decimal', scale: 2 }]);
  const regions = await work.table('Regions', [
    keyColumn,
    { name: 'country', data_type: 'string', length: 10, foreign_key_table_id: countries.id, is_required: true },
    { name: 'kind', data_type: 'string', valid_values: 'North|South' },
  ]);
  await work.table('countries_of_old');
  const changes = { description: 'ISO 3166', lookup_display_column_id: countries.column_definitions[1].id };
  await admin.send('PATCH', `/table_definitions/${countries.id}`, changes);
  await admin.send('PATCH', `/table_definitions/${regions.id}`, { load_type: 'source' });
  const deployment = await creator.post('/deployments', {
    branch_id: account.mainId,
    table_definition_ids: [countries.id],
  });
  await admin.post(`/deployments/${deployment.id}/deploy`);
  for (const step of ['reject', 'send_request'])
    await admin.post(
      `/deployments/${(await admin.post('/deployments', { branch_id: account.mainId, table_definition_ids: [regions.id] })).id}/${step}`,
      { comment: `Please: ${step}` },
    );
  const all = { branch_id: account.mainId, table_definition_ids: [countries.id, regions.id] };
  await admin.post(`/deployments/${(await admin.post('/deployments', all)).id}/deploy`);
  for (const step of ['send_request', 'cancel', '']) {
    const user = step === '' ? account.api : creator;
    const description = step === 'cancel' ? 'Of no use' : null;
    const { id } = await user.post('/change_requests', {
      branch_id: account.mainId,
      title: `Rows ${step}`,
      description,
    });
    metadata.neighbours.data.changeRequests.propose(id, countries.id, ['create']);
    if (step !== '') await user.post(`/change_requests/${id}/${step}`);
  }
  const copy = await work.clone(countries.id);
  for (const step of ['promote', 'cancel', 'send_request']) {
    await admin.send('PATCH', `/table_definitions/${copy.id}`, { description: `for ${step}` });
    const { id } = await work.propose(admin, copy.id);
    await admin.post(`/promotions/${id}/${step}`, step === 'promote' ? {} : { comment: `Why: ${step}` });
  }
}

const lists = [
  '/domains',
  '/branches',
  '/table_definitions',
  '/column_definitions',
  '/deployed_table_definitions',
  '/deployments',
  '/promotions',
  '/change_requests',
];
// Fields that are computed for the answer, or have several values.
const notSearchable: Record<string, string[]> = {
  '/branches': ['is_current', 'row_policy_in_force'],
  '/deployed_table_definitions': ['table_definition_id'],
  '/promotions': ['rows', 'row_counts'],
};

const ask = (path: string, ...parameters: [string, string][]): Promise<Answer> =>
  work.admin.send('GET', `${path}?${new URLSearchParams(parameters)}`);

async function found(path: string, ...parameters: [string, string][]): Promise<Item[]> {
  const { status, body } = await ask(path, ...parameters);
  expect({ parameters, status, errors: body.errors }).toEqual({ parameters, status: 200, errors: undefined });
  return body.data;
}
const idsOf = (items: { id: number }[]) => items.map(({ id }) => id);

type Kind = 'uuid' | 'time' | 'text' | 'number' | 'boolean';
function kindOf(items: Item[], field: string): Kind {
  const value = items.map((item) => item[field]).find((each) => each !== null && each !== undefined);
  if (field === 'uuid') return 'uuid';
  if (typeof value !== 'string' && value !== undefined) return typeof value as Kind;
  return field.endsWith('_at') ? 'time' : 'text';
}

// Arrays and objects are searched by their ids.
const fieldsOf = (path: string, items: Item[]) =>
  Object.keys(items[0] as Item).filter(
    (field) =>
      !notSearchable[path]?.includes(field) &&
      items.every((item) => item[field] === null || typeof item[field] !== 'object'),
  );

type Search = [condition: string, holds: (item: Item) => boolean];

/** The conditions on a field, and the items that each holds for. */
function searches(all: Item[], field: string): Search[] {
  const kind = kindOf(all, field);
  const values = [...new Set(all.map((item) => item[field]).filter((value) => value !== null))].slice(0, 2);
  const asked: Search[] = [
    ['null:', (item) => item[field] === null],
    ['not_null', (item) => item[field] !== null],
    ...values.flatMap((value): Search[] => [
      [`eq:${value}`, (item) => item[field] === value],
      [`not_eq:${value}`, (item) => item[field] !== value],
    ]),
  ];
  if (kind === 'text') asked.push(...values.flatMap((value) => textSearches(field, String(value))));
  if (kind === 'number' || kind === 'time')
    asked.push(...values.flatMap((value) => rangeSearches(field, value as string | number, kind)));
  if (kind === 'number' && values.length > 1)
    asked.push([
      `in:${values.slice(0, 2).join('|')}`,
      (item) => values.slice(0, 2).some((value) => value === item[field]),
    ]);
  return asked;
}

// Text is matched without regard to case; wildcards of SQL have no special meaning.
function textSearches(field: string, value: string): Search[] {
  const textOf = (item: Item) => (item[field] === null ? undefined : String(item[field]).toLowerCase());
  return [value.slice(1, 4).toUpperCase() || value, '%', '_'].flatMap((part): Search[] => {
    const wanted = part.toLowerCase();
    return [
      [`contains:${part}`, (item) => textOf(item)?.includes(wanted) ?? false],
      [`not_contains:${part}`, (item) => !(textOf(item)?.includes(wanted) ?? false)],
      [`starts_with:${part}`, (item) => textOf(item)?.startsWith(wanted) ?? false],
      [`ends_with:${part}`, (item) => textOf(item)?.endsWith(wanted) ?? false],
    ];
  });
}

function rangeSearches(field: string, value: string | number, kind: Kind): Search[] {
  const read = (each: unknown) => (kind === 'time' ? Date.parse(each as string) : (each as number));
  const holds = (test: (a: number, b: number) => boolean) => (item: Item) =>
    item[field] !== null && test(read(item[field]), read(value));
  return [
    [`gt:${value}`, holds((a, b) => a > b)],
    [`gte:${value}`, holds((a, b) => a >= b)],
    [`lt:${value}`, holds((a, b) => a < b)],
    [`lte:${value}`, holds((a, b) => a <= b)],
  ];
}

describe.each(lists)('%s', (path) => {
  let all: Item[];
  let fields: string[];
  beforeAll(async () => {
    all = await found(path);
    fields = fieldsOf(path, all);
  });

  it('comes in pages that contain every item once', async () => {
    expect(all.length).toBeGreaterThan(1);
    expect(idsOf(all)).toEqual(idsOf(all).toSorted((a, b) => a - b));
    for (const sort of ['id', '-id', ...(fields.includes('updated_at') ? ['-updated_at'] : [])]) {
      const whole = await found(path, ['sort', sort]);
      const pages: Item[] = [];
      for (let page = 1; page <= Math.ceil(all.length / 2); page += 1) {
        const { body } = await ask(path, ['sort', sort], ['page', String(page)], ['per_page', '2']);
        expect(body.meta).toEqual({
          page,
          per_page: 2,
          total_count: all.length,
          total_pages: Math.ceil(all.length / 2),
        });
        pages.push(...body.data);
      }
      expect(pages).toEqual(whole);
    }
    expect((await ask(path, ['per_page', '1001'])).body.meta.per_page).toBe(1000);
    expect((await ask(path, ['page', '999999999'])).body.data).toEqual([]);
  });

  it('is sorted by each of its fields, ties by id', async () => {
    for (const field of fields) {
      const kind = kindOf(all, field);
      const numberOf = (item: Item) => (kind === 'time' ? Date.parse(item[field] as string) : Number(item[field]));
      for (const direction of ['', '-']) {
        const items = await found(path, ['sort', `${direction}${field}`]);
        expect(idsOf(items).toSorted()).toEqual(idsOf(all).toSorted());
        for (const [i, item] of items.entries()) {
          const next = items[i + 1];
          if (!next) continue;
          if (item[field] === next[field]) {
            if (field !== 'id') expect([field, item.id < next.id]).toEqual([field, true]);
          } else if (item[field] !== null && next[field] !== null && kind !== 'text' && kind !== 'uuid') {
            const inOrder = direction === '-' ? numberOf(item) > numberOf(next) : numberOf(item) < numberOf(next);
            expect([field, direction, inOrder]).toEqual([field, direction, true]);
          }
        }
      }
    }
  });

  it('is searched by each of its fields with each operator', async () => {
    for (const field of fields) {
      const expected = searches(all, field);
      const answers = await Promise.all(expected.map(([condition]) => found(path, ['q', `${field}:${condition}`])));
      expect(answers.map((items, i) => [expected[i]?.[0], idsOf(items)])).toEqual(
        expected.map(([condition, holds]) => [condition, idsOf(all.filter(holds))]),
      );
    }
  });

  it('takes several conditions at once, and refuses unknown ones', async () => {
    const [first] = all as [Item];
    const both = await found(path, ['q', `id:gte:${first.id}`], ['q', `id:lte:${first.id}`]);
    expect(idsOf(both)).toEqual([first.id]);
    for (const parameters of [
      ['q', 'nothing:eq:1'],
      ['q', 'id:like:1'],
      ['q', 'id:eq:one'],
      ['q', 'id:contains:1'],
      ['q', ''],
      ['sort', 'nothing'],
      ['sort', 'account_id'],
      ['q', 'account_id:eq:1'],
      ['page', '0'],
      ['per_page', '-1'],
      ['unknown', '1'],
    ] as [string, string][])
      expect([parameters, (await ask(path, parameters)).status]).toEqual([parameters, 400]);
  });
});

describe('lists', () => {
  it('of definitions contain the domain and the branch of each item, and filter by them', async () => {
    const { account } = work;
    const [domain] = await found('/domains', ['q', 'name:eq:Geography']);
    for (const path of ['/table_definitions', '/deployed_table_definitions']) {
      for (const item of await found(path))
        expect(item).toMatchObject({
          domain: { id: item.domain_id, name: domain?.name, abbreviation: 'GEO' },
          branch: { id: item.branch_id, name: item.branch_id === account.mainId ? 'main' : 'feature' },
        });
      const onMain = await found(path, ['branch_id', String(account.mainId)], ['q', 'COUNTR']);
      expect(onMain.map(({ name, branch_id }) => [name, branch_id])).toEqual(
        (path === '/table_definitions' ? ['Countries', 'countries_of_old'] : ['Countries']).map((name) => [
          name,
          account.mainId,
        ]),
      );
      expect(await found(path, ['branch_id', 'default'], ['q', 'COUNTR'])).toEqual(onMain);
      expect(await found(path, ['domain_id', '999999'])).toEqual([]);
      expect((await ask(path, ['branch_id', 'other'])).body).toMatchObject({
        problems: [{ code: 'wrong_format', message: 'branch_id must be a positive integer, or default' }],
      });
      expect((await ask(path, ['domain_id', 'x'])).status).toBe(400);
    }
  });

  it('find drafts and deployed tables by a bare word, in names and in comments', async () => {
    expect((await found('/domains', ['q', '100%'])).map(({ name }) => name)).toEqual(['Law 100%']);
    // One of the table, one of its clone.
    expect((await found('/column_definitions', ['q', 'AREA'])).length).toBe(2);
    expect((await found('/deployments', ['q', 'reject'])).map(({ status }) => status)).toEqual(['rejected']);
    expect((await found('/promotions', ['q', 'cancel'])).map(({ status }) => status)).toEqual(['cancelled']);
  });

  it('of columns come in the order of the table', async () => {
    const [table] = await found('/table_definitions', ['q', 'key:eq:regions']);
    const columns = await found('/column_definitions', ['table_definition_id', String(table?.id)]);
    expect(columns.map(({ name, position }) => [name, position])).toEqual([
      ['code', 1],
      ['country', 2],
      ['kind', 3],
    ]);
  });

  it('contain nothing of another account, with any condition', async () => {
    const outsider = givenAdmin(metadata, work.account.id + 50_000);
    for (const path of lists)
      expect((await outsider.get(`${path}?${new URLSearchParams({ q: 'id:gte:1' })}`)).data).toEqual([]);
  });
});

// Columns of megabytes, which lists do not read: a list works on a table without the column.
it.each([
  ['deployment', ['diffs', 'proposed', 'wanted']],
  ['promotion', ['diffs', 'conflicts', 'asked']],
])('a list of %ss reads none of what only a single one shows', async (table, columns) => {
  const before = await work.admin.get(`/${table}s`);
  const rename = (from: string, to: string) =>
    metadata.pool.query(`alter table ${table} rename column ${from} to ${to}`);
  for (const column of columns) await rename(column, `${column}_elsewhere`);
  try {
    expect(await work.admin.send('GET', `/${table}s`)).toEqual({ status: 200, body: before });
  } finally {
    for (const column of columns) await rename(`${column}_elsewhere`, column);
  }
});
