// The log of events of the whole system: what every service does is read in one place, page by page
// and live.
import type { Api } from '@almanac/api-client/api';
import { eventually } from '@almanac/testkit/eventually';
import { type Account, givenAccount, givenDeployedTable, importFile, unique } from '@almanac/testkit/system/builders';

type Event = {
  id: number;
  type: string;
  actor: { type: string; id: number | null };
  resource: { type: string; id: number };
  data: Record<string, unknown>;
};
type Events = { data: Event[]; cursor: number; has_more: boolean };

describe('events', () => {
  let account: Account;
  let api: Api;

  beforeAll(async () => {
    account = await givenAccount();
    api = await account.person();
  });

  const readAll = async (after?: number) => {
    const all: Event[] = [];
    for (let cursor = after; ; ) {
      const page: Events = await api.get(`/events${cursor === undefined ? '' : `?after=${cursor}`}`);
      all.push(...page.data);
      if (!page.has_more) return { events: all, cursor: page.cursor };
      cursor = page.cursor;
    }
  };
  const untilLogged = (after: number, types: string[]) =>
    eventually(async () => {
      const { events } = await readAll(after);
      expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(types));
      return events;
    });

  it('tell of tables, rows, changes, files and people, each once', async () => {
    const { cursor } = await readAll();
    const table = await givenDeployedTable(api);
    await api.post('/table_data', { table_definition_id: table.id, record: { code: 'A', name: 'one' } });
    await importFile(api, table, { pattern: 'incremental' }, 'code,name\nB,two\n');
    const branch = await api.post('/branches', { branch: { name: `feature-${unique()}` } });
    const { id: userId } = await api.post<{ id: number }>('/users', { email: `${unique()}@example.com` });
    const asked = await api.post('/change_requests', { branch_id: table.branchId, title: 'Corrections' });
    await api.post(`/change_requests/${asked.id}/cancel`);
    const events = await untilLogged(cursor, [
      ...['domain.created', 'table_definition.created', 'table_definition.updated', 'deployment.created'],
      ...['deployment.deployed', 'table_definition.deployed', 'rows.changed', 'import.created', 'import.finished'],
      ...['branch.created', 'user.created', 'change_request.created', 'change_request.cancelled'],
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    const idOf = (type: string) => events.filter((event) => event.type === type).map(({ resource }) => resource.id);
    expect(idOf('branch.created')).toEqual([branch.id]);
    expect(idOf('user.created')).toEqual([userId]);
    expect(idOf('change_request.created')).toEqual([asked.id]);
    expect(new Set(idOf('rows.changed'))).toEqual(new Set([table.id]));
    for (const type of ['table_definition.created', 'deployment.deployed', 'import.finished'])
      expect(events.find((event) => event.type === type)?.actor.type).toBe('user');
    // What the event says is where the changes of the rows begin.
    const after = String(events.find(({ type }) => type === 'rows.changed')?.data.changed_after);
    const changes = await api.get(
      `/table_data/changes?table_definition_id=${table.id}&after=${encodeURIComponent(after)}`,
    );
    expect(changes.data.length).toBeGreaterThan(0);
  });

  it('arrive live, and go on where the stream ended', async () => {
    const table = await givenDeployedTable(api);
    const { cursor } = await readAll();
    const stream = async (path: string, headers: Record<string, string>, act: () => Promise<unknown>) => {
      const leaving = new AbortController();
      const answer = await fetch(`${account.baseUrl}/api/v1/events/stream${path}`, {
        headers: { Authorization: `Bearer ${api.token}`, 'Accept-Encoding': 'gzip', ...headers },
        signal: leaving.signal,
      });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      await act();
      let text = '';
      for await (const chunk of (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
        text += chunk;
        const [, found] = /^data: (.*)$/m.exec(text) ?? [];
        if (found === undefined) continue;
        leaving.abort();
        return JSON.parse(found) as Event;
      }
      throw new Error('The stream has ended.');
    };
    const create = (code: string) =>
      api.post('/table_data', { table_definition_id: table.id, record: { code, name: code } });
    const first = await stream('?type=rows.changed', {}, () => create('A'));
    expect(first.resource).toMatchObject({ type: 'table', id: table.id });
    expect(first.id).toBeGreaterThan(cursor);
    await create('B');
    await untilLogged(first.id, ['rows.changed']);
    const next = await stream('?type=rows.changed&after=0', { 'Last-Event-ID': String(first.id) }, async () => {});
    expect(next.id).toBeGreaterThan(first.id);
  });

  it('of another account are not shown', async () => {
    const other = await (await givenAccount()).person();
    const own: Events = await other.get('/events');
    const { events } = await readAll();
    expect(own.data.filter(({ id }) => events.some((event) => event.id === id))).toEqual([]);
  });
});
