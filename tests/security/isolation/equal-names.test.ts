// Two accounts with the same names, keys and codes never see each other's: in lists, in rows, in
// files.
import { request } from 'node:http';
import type { Api } from '@almanac/api-client/api';
import { openStores, type StoredState, type Stores } from '@almanac/testkit/system/stored-state';
import { givenLocalSystem, type LocalSystem } from '@almanac/testkit/system/system';
import { readOperations } from './operations.ts';
import { givenTwins, settle, type Twin } from './twins.ts';

type Created = { id?: number; record: { svc_sk: number } };
type Item = { id: number; name?: string; correlation_code?: string };

describe('two accounts with equal names', () => {
  let system: LocalSystem;
  let stores: Stores;
  let first: Twin;
  let second: Twin;

  beforeAll(async () => {
    system = await givenLocalSystem();
    stores = await openStores(system.home);
    [first, second] = await givenTwins();
    await settle(stores, [first, second]);
  });

  afterAll(async () => {
    await stores?.close();
    await system?.stop();
  });

  describe('see only their own', () => {
    const lists = readOperations().filter(
      ({ item, path }) =>
        item && !['/table_data', '/table_data/activity', '/usage', '/views'].includes(path) && !path.includes('{'),
    );

    it.each(lists)('in $name', async ({ path }) => {
      const [ours, theirs] = [await everything(second.user, path), await everything(first.user, path)];
      expect(ours.length).toBeGreaterThan(0);
      const ids = new Set(theirs.map(({ id }) => id));
      expect(ours.filter(({ id }) => ids.has(id))).toEqual([]);
      expect(JSON.stringify(ours)).not.toContain(first.mark);
      expect(JSON.stringify(theirs)).not.toContain(second.mark);
    });

    it('when they search for a name that both use', async () => {
      const named = [
        ['/table_definitions', 'name', first.shared.name],
        ['/deployed_table_definitions', 'key', first.shared.key],
        ['/branches', 'name', 'main'],
        ['/exports', 'correlation_code', first.correlationCode],
        ['/imports', 'correlation_code', first.correlationCode],
      ];
      for (const [path, field, value] of named) {
        const search = `?${new URLSearchParams({ q: `${field}:eq:${value}` })}`;
        const [ours, theirs] = [await second.user.get(`${path}${search}`), await first.user.get(`${path}${search}`)];
        expect(ours.meta.total_count).toBeGreaterThan(0);
        const ids = theirs.data.map(({ id }: Item) => id);
        for (const { id } of ours.data) expect(ids).not.toContain(id);
      }
    });

    it('when they read the rows of a key that both use', async () => {
      for (const { user, shared, owned, mark } of [first, second]) {
        const key = { table_definition_key: shared.key, branch_id: owned['main branch'] };
        const grid = await user.post('/table_data/grid', { ...key, startRow: 0, endRow: 100 });
        expect(grid.rows.map(({ svc_sk }: { svc_sk: number }) => svc_sk)).toEqual(shared.rows);
        expect(new Set(grid.rows.map(({ name }: { name: string }) => name))).toEqual(new Set([mark]));
      }
    });
  });

  it('can use the same idempotency key for the same request', async () => {
    const once = async ({ user, owned, shared }: Twin) => {
      const branch_id = owned['main branch'];
      const made: number[] = [];
      for (const [path, body] of [
        ['/imports', { branch_id, correlation_code: 'twice' }],
        ['/exports', { branch_id, table_definition_key: shared.key, pattern: 'full', correlation_code: 'twice' }],
        ['/table_data', { table_definition_id: shared.id, record: { code: 'TWICE', target: 'T' } }],
      ] as const) {
        const headers = { 'Idempotency-Key': `the-same-in-both${path}` };
        const { status, body: answer } = await user.send<Created>('POST', path, body, { headers });
        expect(status).toBe(201);
        made.push(answer.id ?? answer.record.svc_sk);
      }
      return made;
    };
    const [theirs, ours] = [await once(first), await once(second)];
    expect(ours.slice(0, 2).every((id, place) => id !== theirs[place])).toBe(true);
    expect(await once(first)).toEqual(theirs);
    expect(await once(second)).toEqual(ours);
  });

  it('can’t refer to rows of the other’s table', async () => {
    const insert = (target: string) =>
      second.user.send('POST', '/table_data', {
        table_definition_id: second.shared.id,
        record: { code: 'NEW', name: 'refers', target },
      });
    const [theirs, nobodys] = [await insert('ONLY1'), await insert('NEVER')];
    expect(theirs.status).toBe(422);
    expect(JSON.stringify(theirs.body).replaceAll('ONLY1', 'NEVER')).toBe(JSON.stringify(nobodys.body));
    const change = { table_definition_id: second.shared.id, record: { target: 'ONLY1' } };
    expect((await second.user.send('PATCH', `/table_data/${second.shared.rows[0]}`, change)).status).toBe(422);
    expect(
      (await second.user.send('PATCH', `/table_data/${second.shared.rows[0]}`, { ...change, record: { target: 'T' } }))
        .status,
    ).toBe(200);
  });

  describe('reach no file of the other by an altered link of their own', () => {
    let before: StoredState;
    let theirs: { get: URL; put: URL };
    let ours: { get: URL; put: URL };

    const links = ({ downloadUrl, uploadUrl }: Twin) => ({ get: new URL(downloadUrl), put: new URL(uploadUrl) });

    beforeAll(async () => {
      await settle(stores, [first]);
      before = await stores.stateOf(first.account.id);
      [theirs, ours] = [links(first), links(second)];
    });

    const changed = (url: URL, change: (url: URL) => void) => {
      const copy = new URL(url);
      change(copy);
      return copy;
    };
    const parameterLike = (url: URL, name: RegExp) =>
      [...url.searchParams.keys()].find((key) => name.test(key)) as string;
    const unsigned = (url: URL) => changed(url, (copy) => copy.searchParams.delete(parameterLike(copy, /signature/i)));
    const attempts: [string, () => [string, URL]][] = [
      ['the other’s without its signature', () => ['GET', unsigned(theirs.get)]],
      ['the other’s place of upload without its signature', () => ['PUT', unsigned(theirs.put)]],
      ['the other’s without any parameter', () => ['GET', changed(theirs.get, (url) => (url.search = ''))]],
      [
        'the other’s file with one’s own signature',
        () => ['GET', changed(ours.get, (url) => (url.pathname = theirs.get.pathname))],
      ],
      [
        'the other’s upload with one’s own signature',
        () => ['PUT', changed(ours.put, (url) => (url.pathname = theirs.put.pathname))],
      ],
      [
        'the other’s export by a link for uploads',
        () => ['GET', changed(ours.put, (url) => (url.pathname = theirs.get.pathname))],
      ],
      ['a link for downloads, to replace the file', () => ['PUT', theirs.get]],
      ['a link for uploads, to read what was uploaded', () => ['GET', theirs.put]],
      [
        'a link whose time was lengthened',
        () => ['GET', changed(theirs.get, (url) => url.searchParams.set(parameterLike(url, /expires/i), '9999999999'))],
      ],
      [
        'a link whose signature was changed',
        () => [
          'GET',
          changed(theirs.get, (url) => url.searchParams.set(parameterLike(url, /signature/i), 'a'.repeat(43))),
        ],
      ],
      [
        'the folder of the other',
        () => ['GET', changed(ours.get, (url) => (url.pathname = url.pathname.replace(/[^/]+$/, '')))],
      ],
    ];

    it.each(attempts)('%s is refused', async (_name, make) => {
      const [method, url] = make();
      const answer = await fetch(url, { method, body: method === 'PUT' ? 'code,name\nS,replaced\n' : null });
      expect([400, 403, 404]).toContain(answer.status);
      expect(await answer.text()).not.toContain(first.mark);
      expect(await stores.stateOf(first.account.id)).toEqual(before);
    });

    it('a way round by dots is refused', async () => {
      const own = ours.get.pathname.replace(/[^/]+$/, '');
      const key = theirs.get.pathname.split('/').slice(-3).join('/');
      for (const dots of ['..', '%2e%2e', '.%2e', '..%2f..'])
        expect([400, 403, 404]).toContain(await getExactly(ours.get, `${own}${dots}/${dots}/${key}${ours.get.search}`));
    });
  });
});

async function everything(api: Api, path: string): Promise<Item[]> {
  return (await api.get<{ data: Item[] }>(`${path}?per_page=1000`)).data;
}

// fetch would normalize the path.
function getExactly({ hostname, port }: URL, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject).end();
  });
}
