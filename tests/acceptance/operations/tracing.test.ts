// With OTEL_EXPORTER_OTLP_ENDPOINT set, a call is one trace through all services it involves,
// including queued work; the trace holds no data.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { poll, upload } from '@almanac/api-client/api';
import { eventually } from '@almanac/testkit/eventually';
import { givenAccount, givenDeployedTable, unique } from '@almanac/testkit/system/builders';
import { type RunningSystem, startSystem, systemHomeName } from '@almanac/testkit/system/system';

type Attribute = { key: string; value: Record<string, unknown> };
type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  service: string;
  attributes: Attribute[];
};
type Batch = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Omit<Span, 'service'>[] }[] }[];
};

describe('traces', () => {
  const spans: Span[] = [];
  const texts: string[] = [];
  let receiver: Server;
  let system: RunningSystem;
  const before = { url: process.env.ALMANAC_BASE_URL, home: process.env[systemHomeName] };

  beforeAll(async () => {
    receiver = createServer(async (req, res) => {
      let text = '';
      for await (const part of req) text += part;
      res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      if (req.url !== '/v1/traces') return;
      texts.push(text);
      spans.push(...readBatch(JSON.parse(text) as Batch));
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    system = await startSystem({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } });
    process.env.ALMANAC_BASE_URL = system.baseUrl;
    process.env[systemHomeName] = system.home;
  });

  afterAll(async () => {
    await system?.stop();
    receiver.closeAllConnections();
    await new Promise((resolve) => receiver.close(resolve));
    process.env.ALMANAC_BASE_URL = before.url;
    process.env[systemHomeName] = before.home;
  });

  it('show an import from the gateway over jobs, its queue and data down to the statements, in the trace of the caller', async () => {
    const account = await givenAccount({ plan: 'plus' });
    const api = await account.machine();
    const table = await givenDeployedTable(api, { withoutBranching: true });
    const { id } = await api.post<{ id: number }>('/imports', { branch_id: table.branchId });
    const added = await api.post(`/imports/${id}/tables`, { table_definition_id: table.id, pattern: 'full' });
    const value = `Secretland ${unique()}`;
    await upload(added.upload_url, `code,name\r\nA,${value}\r\n`);
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
    const asked = await api.send('POST', `/imports/${id}/upload_complete`, undefined, { headers: { traceparent } });
    expect(asked.status).toBe(200);
    await poll(
      () => api.get<{ status: string }>(`/imports/${id}`),
      ({ status }) => status === 'completed',
    );
    const wanted = [
      'gateway: POST /api/v1/imports/{id}/upload_complete',
      'jobs: POST /api/v1/imports/{id}/upload_complete',
      'jobs: process jobs.work.requested',
      'jobs: job import_table',
      'jobs: data/BulkLoad',
      'data: data/BulkLoad',
      'data: COMMIT almanac_data',
    ];
    // A parent may end, and arrive, after its children.
    await eventually(() => {
      const trace = spans.filter((span) => span.traceId === traceId);
      const names = trace.map(({ service, name }) => `${service}: ${name}`);
      expect({ missing: wanted.filter((name) => !names.includes(name)), names: [...new Set(names)] }).toMatchObject({
        missing: [],
      });
      // Each span's parent is another span of the same trace, up to the caller's own.
      const ids = new Set(trace.map(({ spanId }) => spanId));
      const loose = trace.filter(
        ({ parentSpanId = '' }) => !ids.has(parentSpanId) && parentSpanId !== 'b7ad6b7169203331',
      );
      expect(loose.map(({ service, name }) => `${service}: ${name}`)).toEqual([]);
    });

    for (const secret of [value, api.token, account.application.client_secret, account.admin.password])
      expect(texts.some((text) => text.includes(secret))).toBe(false);
  });
});

function readBatch({ resourceSpans }: Batch): Span[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const name = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue;
    const service = String(name).replace('almanac-', '');
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, service })));
  });
}
