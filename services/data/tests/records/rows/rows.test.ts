// Rows are created, with the values of their columns and a key.
import { create } from '../../given.ts';
import { net } from '../../running-data.ts';
import { full, usePlaces } from './places.ts';

usePlaces();

describe('a created row', () => {
  it('is answered with every value exact, in the order of the definition', async () => {
    const response = await fetch(`${net.baseUrl}/api/v1/table_data`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(await headers()) },
      body: JSON.stringify({ table_definition_id: 2, record: full }).replace(
        '"12345678901234567.89"',
        '12345678901234567.89',
      ),
    });
    const text = await response.text();
    expect([response.status, response.headers.get('etag')]).toEqual([201, '"1"']);
    expect(text).toContain('"area":12345678901234567.89,"big":9223372036854775807,"founded":"2024-02-29"');
    const { record, message } = JSON.parse(text);
    expect(message).toBe('Record created');
    expect(Object.keys(record)).toEqual([
      ...['svc_sk', 'svc_created_at', 'svc_updated_at', 'svc_is_deleted', 'svc_version', 'svc_updated_by'],
      ...[
        'country',
        'number',
        'kind',
        'area',
        'big',
        'founded',
        'seen_at',
        'opens',
        'open',
        'tag',
        'extra',
        'ratio',
        'note',
      ],
    ]);
    expect(record).toMatchObject({
      svc_is_deleted: false,
      svc_version: 1,
      seen_at: '2024-01-01T00:00:00.500Z',
      opens: '07:30:00',
      open: true,
      tag: full.tag.toLowerCase(),
      extra: full.extra,
      ratio: 0.1,
      note: full.note,
    });
    expect(record.svc_created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(record.svc_created_at).toBe(record.svc_updated_at);
    const shown = await net.call('GET', `/api/v1/table_data/${record.svc_sk}?table_definition_id=2`);
    expect([shown.status, shown.body]).toEqual([200, record]);
  });

  it('is attributed to the user, or else to the application', async () => {
    net.rights.set(7, {
      license_type: 'end_user',
      permissions: [{ action: 'edit', resource_type: 'domain', resource_id: 1 }],
    });
    const byUser = await create(net, 1, { code: 'U1', name: 'x' }, net.as({ userId: 7, applicationId: 3 }));
    const byApplication = await create(net, 1, { code: 'U2', name: 'x' }, net.as({ applicationId: 3 }));
    expect([byUser.svc_updated_by, byApplication.svc_updated_by]).toEqual(['user:7', 'application:3']);
  });

  it('must keep every rule, and one answer names all that are broken', async () => {
    const record = {
      country: 'XX',
      number: '1e3',
      kind: 'town',
      area: 1.005,
      big: '9223372036854775808',
      founded: 'today',
      seen_at: '2024-01-01',
      opens: '24:00',
      open: 'yes',
      tag: 'x',
      ratio: 'NaN',
      note: 5,
      svc_sk: 1,
      'a" = 1; --': 1,
      Country: 'CH',
    };
    const { status, body } = await net.call('POST', '/api/v1/table_data', { table_definition_id: 2, record });
    expect(status).toBe(422);
    expect(body.error).toBe('Validation failed');
    const named = body.errors.map((problem: string) => problem.split(' ')[0]);
    expect(named).toEqual(
      expect.arrayContaining([
        'number',
        'kind',
        'area',
        'big',
        'founded',
        'seen_at',
        'opens',
        'open',
        'tag',
        'ratio',
        'note',
        'svc_sk',
        'a"',
        'Country',
        'country',
      ]),
    );
    expect(body.errors).toContain('kind must be one of city, a|b, Town');
    expect(body.errors).toContain('country must refer to a record of the referenced table');
    expect(body.errors).toContain('svc_sk is set by the system');
  });

  it.each([
    ['number', 2147483648],
    ['number', 1.5],
    ['number', ' 7 '],
    ['number', true],
    ['number', null],
    ['area', 'NaN'],
    ['area', 'Infinity'],
    ['area', '1e2'],
    ['kind', ''],
    ['kind', 'city '],
    ['country', 'CHE'],
    ['country', ''],
    ['founded', '2023-02-29'],
    ['founded', '01/02/2024'],
    ['open', 1],
    ['open', 't'],
    ['note', ['x']],
    ['big', 1e20],
  ])('is refused when %s is %p', async (name, value) => {
    const { status, body } = await net.call('POST', '/api/v1/table_data', {
      table_definition_id: 2,
      record: { country: 'CH', number: 77, [name]: value },
    });
    expect([status, body.errors.length, body.errors[0].startsWith(name)]).toEqual([422, 1, true]);
  });

  it('is refused with a number where a text is required', async () => {
    const record = { country: 5, number: 78, note: true };
    const { status, body } = await net.call('POST', '/api/v1/table_data', { table_definition_id: 2, record });
    expect([status, body.errors]).toEqual([422, ['country must be text', 'note must be text']]);
  });

  it('measures text in code points', async () => {
    expect((await create(net, 1, { code: '😀😀', name: 'x' })).code).toBe('😀😀');
    const { status, body } = await net.call('POST', '/api/v1/table_data', {
      table_definition_id: 1,
      record: { code: '😀😀😀', name: 'x' },
    });
    expect([status, body.errors]).toEqual([422, ['code is too long (maximum is 2 characters)']]);
  });

  it('is refused without its table', async () => {
    const none = await net.call('POST', '/api/v1/table_data', { table_definition_id: 99, record: { x: 1 } });
    expect([none.status, none.body.errors]).toEqual([404, ['Deployed table definition not found']]);
    for (const body of [
      { record: {} },
      { table_definition_id: 1 },
      { table_definition_id: '1', record: {} },
      { table_definition_id: 1, record: [] },
      { table_definition_id: 1, record: null },
      { table_definition_id: 1, record: {}, x: 1 },
    ])
      expect((await net.call('POST', '/api/v1/table_data', body)).status).toBe(400);
  });

  it('is created once for one Idempotency-Key', async () => {
    const body = { table_definition_id: 1, record: { code: 'I1', name: 'once' } };
    const key = { 'idempotency-key': 'abc-1' };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => net.call('POST', '/api/v1/table_data', body, key)),
    );
    expect(answers.map((answer) => answer.status)).toEqual([201, 201, 201, 201, 201]);
    expect(new Set(answers.map((answer) => answer.body.record.svc_sk)).size).toBe(1);
    const other = await net.call('POST', '/api/v1/table_data', { ...body, record: { code: 'I2', name: 'other' } }, key);
    expect(other.status).toBe(422);
    const failing = { table_definition_id: 1, record: { code: 'I1', name: 'again' } };
    for (let i = 0; i < 2; i += 1)
      expect((await net.call('POST', '/api/v1/table_data', failing, { 'idempotency-key': 'abc-2' })).status).toBe(422);
    expect(
      (
        await net.call(
          'POST',
          '/api/v1/table_data',
          { ...failing, record: { code: 'I3', name: 'x' } },
          { 'idempotency-key': 'abc-2' },
        )
      ).status,
    ).toBe(201);
  });
});

describe('a primary key', () => {
  it('is unique among live rows; the answer names its columns', async () => {
    await create(net, 2, { country: 'DE', number: 5 });
    const { status, body } = await net.call('POST', '/api/v1/table_data', {
      table_definition_id: 2,
      record: { country: 'DE', number: 5 },
    });
    expect([status, body.errors]).toEqual([422, ['country, number must be unique: a record with this value exists']]);
  });

  it('goes to one of two simultaneous requests, many times', async () => {
    for (let round = 0; round < 10; round += 1) {
      const body = { table_definition_id: 2, record: { country: 'DE', number: 1000 + round } };
      const answers = await Promise.all(Array.from({ length: 6 }, () => net.call('POST', '/api/v1/table_data', body)));
      expect(answers.map((answer) => answer.status).toSorted()).toEqual([201, 422, 422, 422, 422, 422]);
    }
  });

  it('is free again when its row is deleted', async () => {
    const first = await create(net, 1, { code: 'ZZ', name: 'first' });
    await net.call('POST', '/api/v1/table_data/delete_records', { table_definition_id: 1, ids: [first.svc_sk] });
    const second = await create(net, 1, { code: 'ZZ', name: 'second' });
    const shown = await net.call('GET', `/api/v1/table_data/${first.svc_sk}?table_definition_id=1`);
    expect([shown.body.svc_is_deleted, second.svc_sk === first.svc_sk]).toEqual([true, false]);
  });
});

async function headers(): Promise<Record<string, string>> {
  const { callHeaders } = await import('@almanac/testkit/calls/call');
  return callHeaders(net.keys);
}
