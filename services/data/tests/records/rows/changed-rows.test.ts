// Rows are changed and deleted, by those who may.
import { create } from '../../given.ts';
import { net } from '../../running-data.ts';
import { usePlaces } from './places.ts';

usePlaces();

describe('PATCH', () => {
  it('changes only what it names', async () => {
    const row = await create(net, 2, { country: 'CH', number: 200, note: 'a', open: false });
    const {
      status,
      body,
      headers: answered,
    } = await net.call('PATCH', `/api/v1/table_data/${row.svc_sk}`, {
      table_definition_id: 2,
      record: { note: null, area: '1.50' },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ svc_version: 2, note: null, area: 1.5, open: false, number: 200 });
    expect(body.svc_updated_at > row.svc_updated_at || body.svc_updated_at === row.svc_updated_at).toBe(true);
    expect(answered.get('etag')).toBe('"2"');
  });

  it('guards against lost updates with If-Match', async () => {
    const row = await create(net, 1, { code: 'M1', name: 'x' });
    const patch = (name: string, match: string) =>
      net.call(
        'PATCH',
        `/api/v1/table_data/${row.svc_sk}`,
        { table_definition_id: 1, record: { name } },
        { 'if-match': match },
      );
    expect((await patch('a', '"1"')).status).toBe(200);
    const refused = await patch('b', '"1"');
    expect([refused.status, refused.body.problems]).toEqual([
      412,
      [
        {
          code: 'version_conflict',
          message: 'The record has been changed since it was read (If-Match).',
          row: row.svc_sk,
          params: { version: 2 },
          current: (await net.call('GET', `/api/v1/table_data/${row.svc_sk}?table_definition_id=1`)).body,
        },
      ],
    ]);
    expect((await patch('c', 'W/"2"')).status).toBe(412);
    expect((await patch('d', '"1", "2"')).status).toBe(200);
    expect((await patch('e', '*')).status).toBe(200);
    const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => patch(`race ${i}`, '"4"')));
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, 412, 412, 412, 412, 412]);
  });

  it('refuses an empty record, a taken key, a missing target and null in a required column', async () => {
    const row = await create(net, 2, { country: 'CH', number: 300 });
    await create(net, 2, { country: 'CH', number: 301 });
    const patch = (record: Record<string, unknown>) =>
      net.call('PATCH', `/api/v1/table_data/${row.svc_sk}`, { table_definition_id: 2, record });
    expect((await patch({})).status).toBe(422);
    expect((await patch({ number: 301 })).body.errors).toEqual([
      'country, number must be unique: a record with this value exists',
    ]);
    expect((await patch({ country: 'QQ', area: 'x' })).body.errors).toEqual([
      'area must be a decimal number',
      'country must refer to a record of the referenced table',
    ]);
    expect((await patch({ number: null })).body.errors).toEqual(["number can't be blank"]);
    expect((await patch({ svc_is_deleted: true })).status).toBe(422);
  });

  it('refuses to change a key that others refer to, naming them', async () => {
    for (const number of [250, 251]) await create(net, 2, { country: 'DE', number });
    const [row] = (await net.call('GET', '/api/v1/table_data?table_definition_id=1&q=code:eq:DE')).body.data;
    const { status, body } = await net.call('PATCH', `/api/v1/table_data/${row.svc_sk}`, {
      table_definition_id: 1,
      record: { code: 'DX' },
    });
    expect(status).toBe(422);
    expect(body.errors[0]).toMatch(/^Record \d+ is still referred to by \d+ records of Places\.$/);
    expect(body.problems[0]).toMatchObject({ row: row.svc_sk, params: { rows: [row.svc_sk] } });
  });

  it('finds no deleted, unknown or foreign row', async () => {
    const row = await create(net, 1, { code: 'D1', name: 'x' });
    await net.call('POST', '/api/v1/table_data/delete_records', { table_definition_id: 1, ids: [row.svc_sk] });
    for (const id of [row.svc_sk, 999999, '99999999999999999']) {
      const { status, body } = await net.call('PATCH', `/api/v1/table_data/${id}`, {
        table_definition_id: 1,
        record: { name: 'y' },
      });
      expect([status, body.errors]).toEqual([404, ['Record not found']]);
      expect(
        (await net.call('PATCH', `/api/v1/table_data/${id}`, { table_definition_id: 1, record: { name: 5 } })).status,
      ).toBe(404);
    }
    for (const id of ['0', '-1', 'x', '1.5', '1e3', '9'.repeat(30)])
      expect(
        (await net.call('PATCH', `/api/v1/table_data/${id}`, { table_definition_id: 1, record: { name: 'y' } })).status,
      ).toBe(400);
  });
});

describe('delete_records', () => {
  const remove = (ids: unknown, table = 1) =>
    net.call('POST', '/api/v1/table_data/delete_records', { table_definition_id: table, ids });

  it('deletes all or nothing, and names unknown ids', async () => {
    const a = await create(net, 1, { code: 'R1', name: 'x' });
    const b = await create(net, 1, { code: 'R2', name: 'x' });
    const mixed = await remove([a.svc_sk, 123456, b.svc_sk, 123457]);
    expect([mixed.status, mixed.body.errors]).toEqual([404, ['Record 123456 not found', 'Record 123457 not found']]);
    const both = await remove([a.svc_sk, b.svc_sk, a.svc_sk]);
    expect([both.status, both.body]).toEqual([200, { message: '2 records deleted', deleted_count: 2 }]);
    expect((await remove([a.svc_sk])).body.deleted_count).toBe(0);
  });

  it('keeps rows that others refer to, naming the table', async () => {
    const a = await create(net, 1, { code: 'K1', name: 'x' });
    const b = await create(net, 1, { code: 'K2', name: 'x' });
    const child = await create(net, 2, { country: 'K1', number: 1 });
    const refused = await remove([a.svc_sk, b.svc_sk]);
    expect([refused.status, refused.body.errors]).toEqual([
      422,
      [`Record ${a.svc_sk} is still referred to by 1 record of Places.`],
    ]);
    expect((await remove([child.svc_sk], 2)).status).toBe(200);
    expect((await remove([a.svc_sk, b.svc_sk])).body.deleted_count).toBe(2);
  });

  it.each([[[]], [['1']], [[1.5]], [[[1]]], [[0]], [[-1]], ['1'], [null]])('answers 400 to %j', async (ids) => {
    expect((await remove(ids)).status).toBe(400);
  });

  it('takes 1000 ids and no more', async () => {
    const ids = (length: number) => Array.from({ length }, (_, i) => 500_000 + i);
    expect((await remove(ids(1000))).status).toBe(404);
    expect((await remove(ids(1001))).status).toBe(400);
  });

  it('does not round an id to its neighbour', async () => {
    const response = await fetch(`${net.baseUrl}/api/v1/table_data/delete_records`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(await headers()) },
      body: '{"table_definition_id":1,"ids":[9007199254740993]}',
    });
    expect(response.status).toBe(400);
  });
});

describe('foreign keys under concurrency', () => {
  it('never leave a live row that refers to a deleted one', async () => {
    for (let round = 0; round < 15; round += 1) {
      const code = `${String.fromCharCode(65 + round)}9`;
      const parent = await create(net, 1, { code, name: 'parent' });
      const [child, deletion] = await Promise.all([
        net.call('POST', '/api/v1/table_data', { table_definition_id: 2, record: { country: code, number: 1 } }),
        net.call('POST', '/api/v1/table_data/delete_records', { table_definition_id: 1, ids: [parent.svc_sk] }),
      ]);
      expect([
        [201, 422],
        [422, 200],
      ]).toContainEqual([child.status, deletion.status]);
    }
  });
});

describe('rights', () => {
  it('may be on the domain, the branch, the table or the account', async () => {
    net.rights.set(21, {
      license_type: 'developer',
      permissions: [{ action: 'view', resource_type: 'table_definition', resource_id: 1 }],
    });
    net.rights.set(22, {
      license_type: 'developer',
      permissions: [{ action: 'admin', resource_type: 'domain', resource_id: 5 }],
    });
    const viewer = net.as({ userId: 21 });
    expect((await viewer('GET', '/api/v1/table_data?table_definition_id=1')).status).toBe(200);
    expect((await viewer('POST', '/api/v1/table_data', { table_definition_id: 1, record: {} })).status).toBe(403);
    expect((await viewer('GET', '/api/v1/table_data?table_definition_id=2')).status).toBe(403);
    expect((await net.as({ userId: 22 })('GET', '/api/v1/table_data/1?table_definition_id=1')).status).toBe(403);
  });

  it('that are missing are sent to the audit log, with the caller, the attempt and the address', async () => {
    net.rights.set(23, { license_type: 'developer', permissions: [] });
    const unauthorized = net.as({ userId: 23, applicationId: 9 });
    const body = { table_definition_id: 1, ids: [1] };
    const headers = { 'x-forwarded-for': '192.0.2.7', 'x-request-id': 'request-0023' };
    const answer = await unauthorized('POST', '/api/v1/table_data/delete_records', body, headers);
    expect(answer.status).toBe(403);
    // No identity service runs here to consume it.
    const sent = await net.query(`select payload from outbox where type = 'data.audit.requested' and request_id = $1`, [
      'request-0023',
    ]);
    expect(sent.map(({ payload }) => payload)).toEqual([
      {
        action: 'access.refused',
        result: 'refused',
        account_id: 1,
        user_id: 23,
        application_id: 9,
        address: '192.0.2.7',
        request_id: 'request-0023',
        after: { method: 'POST', path: '/table_data/delete_records', errors: answer.body.errors },
      },
    ]);
  });
});

describe('another account', () => {
  it('finds no table and no row', async () => {
    const theirs = net.as({ accountId: 2 });
    const calls = (table: number): [string, string, unknown?][] => [
      ['GET', `/api/v1/table_data/1?table_definition_id=${table}`],
      ['GET', `/api/v1/table_data?table_definition_id=${table}`],
      ['POST', '/api/v1/table_data/grid', { table_definition_id: table, startRow: 0, endRow: 10 }],
      ['POST', '/api/v1/table_data', { table_definition_id: table, record: {} }],
      ['PATCH', '/api/v1/table_data/1', { table_definition_id: table, record: {} }],
      ['POST', '/api/v1/table_data/delete_records', { table_definition_id: table, ids: [1] }],
    ];
    for (const [i, [method, path, body]] of calls(1).entries()) {
      const foreign = await theirs(method, path, body);
      const [, unknownPath = '', unknownBody] = calls(4711)[i] as [string, string, unknown?];
      const unknown = await theirs(method, unknownPath, unknownBody);
      expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
    }
    const byKey = await theirs('POST', '/api/v1/table_data/grid', {
      table_definition_key: 'countries',
      branch_id: 1,
      startRow: 0,
      endRow: 1,
    });
    expect(byKey.status).toBe(404);
  });
});

async function headers(): Promise<Record<string, string>> {
  const { callHeaders } = await import('@almanac/testkit/calls/call');
  return callHeaders(net.keys);
}
