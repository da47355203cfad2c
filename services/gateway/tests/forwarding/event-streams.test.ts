// Streams of events through the gateway: what a service sends arrives at once and as it is, and the
// answer ends with its token, its client, its service or the gateway.
import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { eventually } from '@almanac/testkit/eventually';
import type { JWTPayload } from 'jose';
import { givenBrowser } from '../console/given.ts';
import type { TestGateway } from '../given.ts';
import { announce, useNeighbours } from '../neighbours.ts';

const { services, identity, billing, useGateway, startGateway, connectBus } = useNeighbours();
const gateway = useGateway();
let bus: Bus;
beforeAll(async () => {
  bus = await connectBus('identity');
});

/** The open answers of the service. */
let answers: ServerResponse[];
beforeEach(() => {
  answers = [];
  services.answer((_req, res) => {
    answers.push(res);
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    res.write('id: 1\n\n');
  });
});
afterEach(() => {
  for (const res of answers) res.destroy();
});

type Stream = {
  answer: Response;
  text(): string;
  /** `whole`, `cut`, or undefined while it is open. */
  end(): string | undefined;
  leave(): void;
};

async function open(at: TestGateway, call: (init: RequestInit) => Promise<Response>): Promise<Stream> {
  const leaving = new AbortController();
  const answer = await call({ signal: leaving.signal });
  let [text, end] = ['', undefined as string | undefined];
  const decoder = new TextDecoder();
  void (async () => {
    try {
      for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) text += decoder.decode(chunk);
      end = 'whole';
    } catch {
      end = 'cut';
    }
  })();
  const stream = { answer, text: () => text, end: () => end, leave: () => leaving.abort() };
  await eventually(() => expect(stream.text()).toContain('id: 1\n\n'));
  expect(await openStreams(at)).toBeGreaterThan(0);
  return stream;
}

const openWith = (token: string, at: TestGateway = gateway, headers: Record<string, string> = {}) =>
  open(at, (init) =>
    fetch(`${at.url}/api/v1/events/stream?type=rows.changed`, {
      ...init,
      headers: { Authorization: `Bearer ${token}`, 'Accept-Encoding': 'gzip', ...headers },
    }),
  );
const openStreams = async (at: TestGateway) =>
  Number(/^almanac_gateway_streams_open\S* (\d+)/m.exec(await at.metrics())?.[1]);
const token = (claims: JWTPayload = {}) => identity.token({ scope: 'api:read', ...claims });
const untilEnded = async (stream: Stream) => {
  await eventually(() => expect(stream.end()).toBe('whole'));
  // The service learns of it too, and nothing is left behind.
  await eventually(() => expect(answers.every((res) => res.destroyed || res.writableEnded)).toBe(true));
  await eventually(async () => expect(await openStreams(gateway)).toBe(0));
};

describe('a stream of events', () => {
  it('arrives piece by piece, uncompressed, with the id to go on from, and counts as one call', async () => {
    const before = billing.calls();
    const stream = await openWith(await token(), gateway, { 'Last-Event-ID': '41' });
    expect(stream.answer.headers.get('content-type')).toBe('text/event-stream');
    expect(stream.answer.headers.get('content-encoding')).toBeNull();
    expect(services.reached.at(-1)).toMatchObject({
      url: '/api/v1/events/stream?type=rows.changed',
      headers: { 'last-event-id': '41' },
    });
    answers[0]?.write('id: 2\ndata: {}\n\n');
    await eventually(() => expect(stream.text()).toBe('id: 1\n\nid: 2\ndata: {}\n\n'));
    answers[0]?.end();
    await untilEnded(stream);
    await eventually(() => expect(billing.calls() - before).toBe(1), { withinMs: 20_000 });
  });

  it('ends with its token', async () => {
    const now = Math.floor(Date.now() / 1000);
    await untilEnded(await openWith(await token({ exp: now + 2 })));
    expect(gateway.log()).not.toContain('aborted its answer');
  });

  it.each([
    ['is revoked', 'token', 'revoked-1', { jti: 'revoked-1' }],
    ['loses its user', 'user', '77', { user_id: 77 }],
  ])('ends when its token %s', async (_what, kind, subject, claims) => {
    const stream = await openWith(await token(claims));
    const other = await openWith(await token({ user_id: 78 }));
    const soon = new Date(Date.now() + 60_000).toISOString();
    await announce(bus, 'identity.token.revoked', {
      account_id: 1,
      kind,
      subject,
      issued_before: soon,
      expires_at: soon,
      reason: 'revoked',
    });
    await eventually(() => expect(stream.end()).toBe('whole'));
    expect(other.end()).toBeUndefined();
    other.leave();
    await eventually(() => expect(answers.every((res) => res.destroyed)).toBe(true));
  });

  it('ends when its application loses the scope', async () => {
    const stream = await openWith(await token({ client_id: 'app-streams', scope: 'api:read api:write' }));
    const later = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
    await announce(bus, 'identity.token.revoked', {
      account_id: 1,
      kind: 'application_scope',
      subject: 'app-streams',
      scope: 'api:write',
      issued_before: later(1),
      expires_at: later(600),
      reason: 'scopes_changed',
    });
    await untilEnded(stream);
  });

  it('of the console ends with its session', async () => {
    const browser = givenBrowser(identity, gateway);
    const stream = await open(gateway, (init) => browser.call('/api/v1/events/stream', init));
    expect(services.reached.at(-1)?.url).toBe('/api/v1/events/stream');
    const soon = new Date(Date.now() + 60_000).toISOString();
    await announce(bus, 'identity.token.revoked', {
      account_id: 1,
      kind: 'token',
      subject: `session:${browser.session.id}`,
      issued_before: soon,
      expires_at: soon,
      reason: 'logout',
    });
    await untilEnded(stream);
  });

  it('whose client leaves ends at the service', async () => {
    const stream = await openWith(await token());
    stream.leave();
    await eventually(() => expect(answers[0]?.destroyed).toBe(true));
    await eventually(async () => expect(await openStreams(gateway)).toBe(0));
  });

  it('is cut when its service dies', async () => {
    const stream = await openWith(await token());
    answers[0]?.destroy();
    await eventually(() => expect(stream.end()).toBe('cut'));
  });

  it('is no reason for a gateway that stops to wait', async () => {
    const other = await startGateway();
    const stream = await openWith(await token(), other);
    await other.stop();
    await eventually(() => expect(stream.end()).toBe('whole')); // not cut by the end of the drain
  });

  it('is none either when its client does not read', async () => {
    const other = await startGateway();
    const sent = request(`${other.url}/api/v1/events/stream`, {
      headers: { Authorization: `Bearer ${await token()}` },
    });
    const [answer] = (await once(sent.end(), 'response')) as [IncomingMessage];
    answer.on('error', () => {});
    answers[0]?.write('x'.repeat(20_000_000));
    await eventually(() => expect(answers[0]?.writableNeedDrain).toBe(true));
    const startedAt = performance.now();
    await other.stop();
    expect(performance.now() - startedAt).toBeLessThan(15_000); // the drain would take 20 s
  });
});
