// Exact numbers: callers that request them get decimals and bigints as strings in every record; the
// others get numbers, also from caches that the first have filled.
import { callHeaders } from '@almanac/testkit/calls/call';
import { eventually } from '@almanac/testkit/eventually';
import { create, type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import { remove } from '../versions.ts';

let net: DataNet;
const path = '/api/v1/table_data';
const big = '9007199254740993';
const long = '123456789012345678.0123456789';
const exact = { 'exact-numbers': 'true' };

const accounts: TableInput = {
  id: 1,
  lookup_display_column_id: 1001,
  columns: [
    { name: 'number', data_type: 'bigint', is_primary_key: true },
    { name: 'balance', data_type: 'decimal', length: 28, scale: 10 },
    { name: 'small', data_type: 'integer' },
    { name: 'ratio', data_type: 'double' },
    { name: 'label', length: 20 },
    { name: 'notes', data_type: 'json' },
  ],
};
const bookings: TableInput = {
  id: 2,
  columns: [
    { name: 'id', data_type: 'integer', is_primary_key: true },
    { name: 'account', data_type: 'bigint', foreign_key_table_id: 1 },
  ],
};
const own = { number: big, balance: long, small: 7, ratio: 0.5, label: '1.50', notes: [1] };
const plain = `"number":${big},"balance":${long},"small":7,"ratio":0.5,"label":"1.50","notes":[1]`;
const none = { balance: null, small: null, ratio: null, label: null, notes: null };
let row: number;
let booking: number;

beforeAll(async () => {
  net = await givenData();
  await deploy(net, [accounts, bookings]);
  row = (await create(net, 1, own)).svc_sk;
  booking = (await create(net, 2, { id: 1, account: big })).svc_sk;
});
afterAll(() => net.stop());

/** The text of the answer: parsing would round. */
async function textOf(method: string, to: string, body?: object, headers = {}): Promise<string> {
  const answer = await fetch(`${net.baseUrl}${path}${to}`, {
    method,
    headers: { ...(await callHeaders(net.keys)), 'content-type': 'application/json', ...headers },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return answer.text();
}

const window = { startRow: 0, endRow: 10 };
type Read = { method: string; to: string; body?: object };
const reads: [string, Read][] = [
  ['one row', { method: 'GET', to: '/ROW?table_definition_id=1' }],
  ['one row of an instant', { method: 'GET', to: '/ROW?table_definition_id=1&as_of=NOW' }],
  ['one row with lookups', { method: 'GET', to: '/ROW?table_definition_id=1&include_lookups=true' }],
  ['the list', { method: 'GET', to: '?table_definition_id=1' }],
  ['the list of an instant', { method: 'GET', to: '?table_definition_id=1&as_of=NOW' }],
  ['the grid', { method: 'POST', to: '/grid?', body: { table_definition_id: 1, ...window } }],
  [
    'the grid with lookups',
    { method: 'POST', to: '/grid?', body: { table_definition_id: 1, ...window, include_lookups: true } },
  ],
  ['the history', { method: 'GET', to: '/ROW/history?table_definition_id=1' }],
];

describe('a caller that requests exact numbers', () => {
  it.each(reads)(
    'gets decimals and bigints of %s as strings; others get numbers',
    async (_what, { method, to, body }) => {
      const { svc_updated_at } = (await net.call('GET', `${path}/${row}?table_definition_id=1`)).body;
      const address = to.replace('ROW', String(row)).replace('NOW', svc_updated_at);
      const recordOf = (text: string) => {
        const answer = JSON.parse(text);
        const [first] = answer.rows ?? answer.data ?? [answer];
        return first.record ?? first;
      };
      for (let round = 0; round < 2; round += 1) {
        expect(await textOf(method, address, body)).toContain(plain);
        const asked = [
          await textOf(method, `${address}&exact_numbers=true`, body),
          await textOf(method, address, body, exact),
          await textOf(method, `${address}&exact_numbers=false`, body, exact),
          await textOf(method, `${address}&exact_numbers=true`, body, { 'exact-numbers': 'false' }),
        ];
        expect(new Set(asked).size).toBe(1);
        expect(recordOf(asked[0] as string)).toMatchObject({ ...own, svc_sk: row, svc_version: 1 });
      }
      expect(await textOf(method, `${address}&exact_numbers=false`, body)).toContain(plain);
      expect(await textOf(method, address, body, { 'exact-numbers': 'false' })).toContain(plain);
    },
  );

  it('gets the values of lookups the same way', async () => {
    const show = (more: string) => textOf('GET', `/${booking}?table_definition_id=2&include_lookups=true${more}`);
    expect(await show('')).toContain(`"account":${big},"svc_lookups":{"account":${long}}`);
    expect(await show('&exact_numbers=true')).toContain(`"account":"${big}","svc_lookups":{"account":"${long}"}`);
  });

  it('gets null where there is no value', async () => {
    const { svc_sk } = await create(net, 1, { number: '2' });
    const { body } = await net.call('GET', `${path}/${svc_sk}?table_definition_id=1&exact_numbers=true`);
    expect(body).toMatchObject({ number: '2', ...none });
    await remove(net.call, 1, [svc_sk]);
  });

  it('gets an answer with Vary, and the ETag of the version', async () => {
    const { headers } = await net.call('GET', `${path}/${row}?table_definition_id=1`, undefined, exact);
    expect([headers.get('vary'), headers.get('etag')]).toEqual(['Exact-Numbers', '"1"']);
    const refused = await net.call('GET', `${path}/${row}?table_definition_id=1&exact_numbers=2`);
    expect(refused.headers.get('vary')).toBe('Exact-Numbers');
  });

  it.each([
    ['exact_numbers=1', {}],
    ['exact_numbers=', {}],
    ['exact_numbers=TRUE', {}],
    ['exact_numbers=true&exact_numbers=true', {}],
    ['exact_numbers=true', { 'exact-numbers': '1' }],
    ['exact_numbers=true', { 'exact-numbers': '' }],
  ])('says true or false: %s with %j is 400, and changes nothing', async (query, headers) => {
    const read = await net.call('GET', `${path}?table_definition_id=1&${query}`, undefined, headers);
    expect(read.status).toBe(400);
    const record = { label: 'changed' };
    const written = await net.call('PATCH', `${path}/${row}?${query}`, { table_definition_id: 1, record }, headers);
    expect(written.status).toBe(400);
    expect(written.body.errors[0]).toMatch(/exact.numbers/i);
    expect(await textOf('GET', `/${row}?table_definition_id=1`)).toContain('"svc_version":1');
  });
});

const ownOf = (record: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !name.startsWith('svc_')));

describe('a written record', () => {
  it('is answered with strings on request, and a record that was read that way is written unchanged', async () => {
    const numbered = (number: string) => ({ ...own, number });
    const body = { table_definition_id: 1, record: numbered('9007199254740995') };
    const made = (await net.call('POST', `${path}?exact_numbers=true`, body)).body.record;
    expect(ownOf(made)).toEqual(body.record);

    const update = { table_definition_id: 1, record: ownOf(made) };
    const updated = await net.call('PATCH', `${path}/${made.svc_sk}`, update, exact);
    expect(ownOf(updated.body)).toEqual(body.record);
    const stored = plain.replace(big, body.record.number);
    expect(await textOf('GET', `/${made.svc_sk}?table_definition_id=1`)).toContain(stored);

    const version = { table_definition_id: 1, version: 1 };
    const reverted = await net.call('POST', `${path}/${made.svc_sk}/revert`, version, exact);
    expect(ownOf(reverted.body)).toEqual(body.record);

    const operations = [
      { operation: 'update', id: made.svc_sk, record: ownOf(made) },
      { operation: 'create', record: numbered('9007199254740997') },
    ];
    const batch = { table_definition_id: 1, operations };
    const done = await net.call('POST', `${path}/batch?exact_numbers=true`, batch);
    expect(done.body).toMatchObject({ updated: [body.record], created: [numbered('9007199254740997')] });
    await remove(net.call, 1, [made.svc_sk, done.body.created[0].svc_sk]);
  });

  it('is answered in the form that each caller requested, also when many write and read at once', async () => {
    const numbers = Array.from({ length: 20 }, (_, i) => String(9007199254741001n + BigInt(2 * i)));
    const forms = numbers.map((_, i) => (i % 2 === 0 ? exact : {}));
    const shown = (number: string, i: number) => (i % 2 === 0 ? `"number":"${number}"` : `"number":${number}`);
    const all = (ask: (number: string, headers: object, i: number) => Promise<string>) =>
      Promise.all(numbers.map((number, i) => ask(number, forms[i] as object, i)));
    const made = await all((number, headers) =>
      textOf('POST', '', { table_definition_id: 1, record: { ...own, number } }, headers),
    );
    const ids = made.map((text) => JSON.parse(text).record.svc_sk);
    const changed = await all((_, headers, i) =>
      textOf('PATCH', `/${ids[i]}`, { table_definition_id: 1, record: { small: i } }, headers),
    );
    const read = await all((_, headers, i) => textOf('GET', `/${ids[i]}?table_definition_id=1`, undefined, headers));
    for (const [i, number] of numbers.entries())
      for (const text of [made[i], changed[i], read[i]]) expect(text).toContain(shown(number, i));
    await remove(net.call, 1, ids);
  });

  it('with an Idempotency-Key is another request when it requests another form', async () => {
    const body = { table_definition_id: 1, record: { number: '3' } };
    const post = (headers: object) => net.call('POST', path, body, { 'idempotency-key': 'exact', ...headers });
    const first = await post(exact);
    expect([first.status, first.body.record.number]).toEqual([201, '3']);
    expect((await post(exact)).body).toEqual(first.body);
    expect((await post({})).status).toBe(422);
    await remove(net.call, 1, [first.body.record.svc_sk]);
  });
});

it('pages are cached for each form', async () => {
  const body = { table_definition_id: 1, ...window, sortModel: [{ colId: 'number', sort: 'asc' }] };
  const [asNumbers, asStrings] = [await textOf('POST', '/grid', body), await textOf('POST', '/grid', body, exact)];
  expect(asStrings).not.toBe(asNumbers);
  await eventually(async () => {
    const before = net.context.pages.cache.hits;
    expect(await textOf('POST', '/grid', body)).toBe(asNumbers);
    expect(await textOf('POST', '/grid', body, exact)).toBe(asStrings);
    expect(net.context.pages.cache.hits).toBe(before + 2);
  });
});

describe('the present record of a refusal with 412', () => {
  it('has all its digits, as numbers or as strings', async () => {
    const body = { table_definition_id: 1, record: { label: 'x' } };
    const refused = (headers: Record<string, string>) =>
      textOf('PATCH', `/${row}`, body, { 'if-match': '"99"', ...headers });
    expect(await refused({})).toContain(`"current":{"svc_sk":${row},`);
    expect(await refused({})).toContain(plain);
    expect(await refused(exact)).toContain(`"number":"${big}","balance":"${long}"`);
    const operations = [{ operation: 'delete', id: row, version: 99 }];
    const batch = (headers: object) => textOf('POST', '/batch', { table_definition_id: 1, operations }, headers);
    expect(await batch({})).toContain(plain);
    expect(await batch(exact)).toContain(`"number":"${big}","balance":"${long}"`);
  });
});
