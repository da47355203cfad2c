// POST /table_data/resolve: which record a label means.
import { type DataNet, deploy, givenData } from '../given.ts';
import { remove } from '../versions.ts';

let net: DataNet;
let last = 0;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const resolve = (table: number, body: object, call = net.call) =>
  call('POST', '/api/v1/table_data/resolve', { table_definition_id: table, ...body });

async function given(table: number, records: object[]): Promise<number[]> {
  const operations = records.map((record) => ({ operation: 'create', record }));
  const answer = await net.call('POST', '/api/v1/table_data/batch', { table_definition_id: table, operations });
  expect(answer.status).toBe(200);
  return answer.body.created.map((row: { svc_sk: number }) => row.svc_sk);
}

/** Countries with names, and cities that refer to them by a key of two columns. */
async function givenCountries() {
  last += 10;
  const [countries, cities] = [last, last + 1];
  await deploy(net, [
    {
      id: countries,
      domain_id: 5,
      columns: [
        { name: 'code', length: 5, is_primary_key: true },
        { name: 'no', data_type: 'decimal', length: 5, scale: 1, is_primary_key: true },
        { name: 'name' },
      ],
    },
    {
      id: cities,
      columns: [
        { name: 'city', is_primary_key: true },
        { name: 'country', length: 5, foreign_key_table_id: countries },
        { name: 'country_no', data_type: 'decimal', length: 5, scale: 1, foreign_key_table_id: countries },
      ],
    },
  ]);
  const ids = await given(countries, [
    { code: 'DE', no: 1, name: 'Germany' },
    { code: 'XG', no: 2, name: 'GERMANY' },
    { code: 'FR', no: 1, name: 'France' },
    { code: 'CF', no: 1.5, name: 'Central  African\u00a0Republic' },
    { code: 'IT', no: 1, name: 'Italy' },
    { code: 'IT', no: 2, name: 'Italy' },
    { code: 'NO', no: 1, name: null },
    { code: 'ÖS', no: 1, name: 'Österreich' },
  ]);
  return { countries, cities, ids };
}

describe('labels of a reference', () => {
  it('mean the record with exactly this text, else the one without case and blanks', async () => {
    const { cities, ids } = await givenCountries();
    const labels = ['Germany', 'GERMANY', ' france\t', 'central african republic', 'österreich', 'Spain', ''];
    const answer = await resolve(cities, { column: 'country', labels });
    expect(answer.status).toBe(200);
    const record = (i: number, code: string, no: number, display: string) => ({
      id: ids[i],
      key: { code, no },
      values: { country: code, country_no: no },
      display,
    });
    expect(answer.body).toEqual({
      resolved: [
        { label: 'Germany', ...record(0, 'DE', 1, 'Germany') },
        { label: 'GERMANY', ...record(1, 'XG', 2, 'GERMANY') },
        { label: ' france\t', ...record(2, 'FR', 1, 'France') },
        { label: 'central african republic', ...record(3, 'CF', 1.5, 'Central  African\u00a0Republic') },
        { label: 'österreich', ...record(7, 'ÖS', 1, 'Österreich') },
      ],
      ambiguous: [],
      unknown: ['Spain', ''],
    });
  });

  it('are ambiguous when several records have them', async () => {
    const { cities, ids } = await givenCountries();
    const { body } = await resolve(cities, { column: 'country_no', labels: ['Italy', 'germany', 'Italy'] });
    const idsOf = (each: { matches: { id: number }[] }) => each.matches.map(({ id }) => id);
    expect(body).toMatchObject({
      resolved: [],
      unknown: [],
      ambiguous: [{ label: 'Italy', count: 2 }, { label: 'germany' }],
    });
    expect(body.ambiguous.map(idsOf)).toEqual([ids.slice(4, 6), ids.slice(0, 2)]);
  });

  it('name ten of many records', async () => {
    const { countries } = await givenCountries();
    await given(
      countries,
      Array.from({ length: 15 }, (_, i) => ({ code: `S${i}`, no: 1, name: 'Same' })),
    );
    const { body } = await resolve(countries, { labels: ['same'] });
    expect(body.ambiguous).toMatchObject([{ count: 15 }]);
    expect(body.ambiguous[0].matches).toHaveLength(10);
  });

  it('do not mean deleted records', async () => {
    const { countries, cities, ids } = await givenCountries();
    await remove(net.call, countries, [ids[2] as number]);
    expect((await resolve(cities, { column: 'country', labels: ['France'] })).body).toMatchObject({
      unknown: ['France'],
    });
  });
});

it('without a column they are those of the table itself, by the chosen display column or the key', async () => {
  const { countries, cities, ids } = await givenCountries();
  expect((await resolve(countries, { labels: ['France'] })).body.resolved).toEqual([
    { label: 'France', id: ids[2], key: { code: 'FR', no: 1 }, display: 'France' },
  ]);
  const [city] = await given(cities, [{ city: 'Paris', country: 'FR', country_no: 1 }]);
  expect((await resolve(cities, { labels: ['PARIS'] })).body.resolved).toEqual([
    { label: 'PARIS', id: city, key: { city: 'Paris' }, display: 'Paris' },
  ]);
});

it('takes 1 to 1,000 labels', async () => {
  const { countries } = await givenCountries();
  const labels = (count: number) => Array.from({ length: count }, (_, i) => `label ${i}`);
  expect((await resolve(countries, { labels: labels(1000) })).body.unknown).toHaveLength(1000);
  expect((await resolve(countries, { labels: labels(1001) })).status).toBe(400);
  expect((await resolve(countries, { labels: [] })).status).toBe(400);
});

it('is 400 for what is no label, no column, and no reference', async () => {
  const { countries, cities } = await givenCountries();
  for (const labels of [undefined, 'one', [1], [null], [['one']], [{}]])
    expect((await resolve(countries, { labels })).status).toBe(400);
  for (const column of ['colour', 'city', `x' or true --`, '__proto__', ''])
    expect(await resolve(cities, { column, labels: ['one'] })).toMatchObject({
      status: 400,
      body: { problems: [{ field: 'column' }] },
    });
});

it('takes any text as a label', async () => {
  const { countries } = await givenCountries();
  const labels = ["'; drop table t; --", '\\', '%', '[a-z]+', '{"a":1}', 'x'.repeat(100_000), '\u{1f600}', '"'];
  expect(await resolve(countries, { labels })).toMatchObject({ status: 200, body: { unknown: labels } });
});

it('needs the right to view the table and the referenced one; both are of the account', async () => {
  const { countries, cities } = await givenCountries();
  const may = (userId: number, ...permissions: object[]) =>
    net.rights.set(userId, { license_type: 'developer', permissions: permissions as never });
  may(8, { action: 'view', resource_type: 'table_definition', resource_id: cities });
  may(
    9,
    { action: 'view', resource_type: 'domain', resource_id: 1 },
    { action: 'view', resource_type: 'domain', resource_id: 5 },
  );
  const body = { column: 'country', labels: ['France'] };
  expect((await resolve(cities, body, net.as({ userId: 8 }))).status).toBe(403);
  expect((await resolve(cities, { labels: ['Paris'] }, net.as({ userId: 8 }))).status).toBe(200);
  expect((await resolve(countries, { labels: ['France'] }, net.as({ userId: 8 }))).status).toBe(403);
  expect((await resolve(cities, body, net.as({ userId: 9 }))).body.resolved).toHaveLength(1);
  expect((await resolve(cities, body, net.as({ accountId: 2 }))).status).toBe(404);
});

it('reads the referenced table as it is after a deployment', async () => {
  const { countries, cities } = await givenCountries();
  const body = { column: 'country', labels: ['France'] };
  expect((await resolve(cities, body)).body.resolved).toHaveLength(1);
  await deploy(net, [
    {
      id: countries,
      domain_id: 5,
      version: 2,
      columns: [
        { name: 'code', length: 5, is_primary_key: true },
        { name: 'no', data_type: 'decimal', length: 5, scale: 1, is_primary_key: true },
        { name: 'title' },
      ],
    },
  ]);
  expect((await resolve(cities, body)).body.resolved).toHaveLength(1);
});
