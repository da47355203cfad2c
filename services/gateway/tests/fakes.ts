// What a gateway talks to, in memory: an identity, services that record their calls, and billing at
// its RPC edge.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createContextVerifier, type Issuer } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { createMetrics } from '@almanac/service-kit/observability/metrics';
import { loadServiceDefinition } from '@almanac/service-kit/rpc/contract';
import { createRpcServer } from '@almanac/service-kit/rpc/server';
import type { ServiceTls } from '@almanac/service-kit/tls/service-tls';
import type { TestKeys } from '@almanac/testkit/calls/keys';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

export const publicUrl = 'http://almanac.test:8080';

export type Reached = { method: string; url: string; headers: IncomingMessage['headers']; body: string };
export type Handler = (req: IncomingMessage, res: ServerResponse, body: string) => void;

/** An HTTP server for all services: answers 200 with `{}` by default, and records its requests. */
export type FakeServices = {
  url: string;
  reached: Reached[];
  sockets: Set<Socket>;
  answer(handler: Handler | undefined): void;
  /** Holds the answers of later requests; the responses are in `held`. */
  hold(): void;
  held: ServerResponse[];
  /** Answers the held requests, and later ones at once. */
  release(): void;
  /** Handles a request of another server. */
  take(req: IncomingMessage, res: ServerResponse): void;
  close(): Promise<void>;
};

export async function givenServices(): Promise<FakeServices> {
  const reached: Reached[] = [];
  const sockets = new Set<Socket>();
  let handler: Handler | undefined;
  const take = (req: IncomingMessage, res: ServerResponse) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('error', () => {});
    req.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      reached.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, body });
      if (handler) return handler(req, res, body);
      res.setHeader('content-type', 'application/json').end('{}');
    });
  };
  const server = createServer({ maxHeaderSize: 65_536 }, take);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const held: ServerResponse[] = [];
  const answer = (given: Handler | undefined) => {
    handler = given;
  };
  return {
    url: await listen(server),
    reached,
    sockets,
    take,
    answer,
    hold: () => answer((_req, res) => void held.push(res)),
    held,
    release: () => {
      answer(undefined);
      for (const res of held.splice(0)) res.end('{}');
    },
    close: () => close(server),
  };
}

export type FakeSession = {
  id: number;
  account_id: number;
  user_id: number;
  started_at: string;
  expires_at: string;
  confirmed_until: string;
};

export type FakeIdentity = {
  url: string;
  rpc: string;
  revocations: Record<string, string>[];
  /** Sessions by the digest of their id. */
  sessions: Map<string, FakeSession>;
  /** How often a session was resolved. */
  resolved(): number;
  /** How often the keys were fetched. */
  keyFetches(): number;
  /** Makes a valid access token; `claims` replace its claims, and `undefined` removes one. */
  token(claims?: JWTPayload, header?: Record<string, unknown>): Promise<string>;
  /** Replaces the signing key; `keep` still publishes the earlier ones. */
  rotate(options?: { keep?: boolean }): Promise<void>;
  close(): Promise<void>;
};

/** Publishes keys and lists revocations; forwards other requests to the fake services. */
export async function givenIdentity(keys: TestKeys, services: FakeServices, tls?: ServiceTls): Promise<FakeIdentity> {
  const revocations: Record<string, string>[] = [];
  let fetches = 0;
  let number = 0;
  let signing = await signingKey('key-0');
  let published = [signing.publicJwk];
  const server = createServer((req, res) => {
    if (req.url !== '/.well-known/jwks.json') return services.take(req, res);
    fetches += 1;
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: published }));
  });
  const sessions = new Map<string, FakeSession>();
  let resolved = 0;
  const handlers = {
    ListRevocations: async () => ({ revocations }),
    ResolveSession: async (_call: unknown, { digest }: { digest: Buffer }) => {
      resolved += 1;
      const session = sessions.get(digest.toString('base64url'));
      if (session) return session;
      throw new ServiceError('not_found', { code: 'not_found', message: 'The session has ended.' });
    },
  };
  const rpc = await startRpc('identity', keys, handlers, tls);
  return {
    url: await listen(server),
    rpc: rpc.address,
    revocations,
    sessions,
    resolved: () => resolved,
    keyFetches: () => fetches,
    rotate: async ({ keep = false } = {}) => {
      number += 1;
      signing = await signingKey(`key-${number}`);
      published = [...(keep ? published : []), signing.publicJwk];
    },
    token: (claims = {}, header = {}) => {
      const now = Math.floor(Date.now() / 1000);
      number += 1;
      const payload: JWTPayload = {
        iss: publicUrl,
        aud: `${publicUrl}/api/v1`,
        sub: 'client-1',
        jti: `token-${number}-${Math.random().toString(36).slice(2)}`,
        iat: now,
        exp: now + 7200,
        account_id: 1,
        client_id: 'client-1',
        application_id: 11,
        scope: 'api',
        ...claims,
      };
      return new SignJWT(payload)
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: signing.publicJwk.kid, ...header })
        .sign(signing.privateKey);
    },
    close: async () => {
      await Promise.all([close(server), rpc.stop()]);
    },
  };
}

async function signingKey(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } };
}

export type FakeBilling = {
  rpc: string;
  state: {
    plan: string;
    allowance: number;
    writesBlocked: boolean;
    overage: boolean;
    branching: boolean;
    storageBytes: number;
  };
  /** Calls of leases that are neither booked nor returned. */
  reserved(): number;
  /** What was booked, by report. */
  booked: { lease: string; sequence: number; calls: number; method: string; resource: string; application: number }[];
  calls(): number;
  /** Calls of the console, by report. */
  consoleCalls: { user_id: number; method: string; resource: string; calls: number }[];
  close(): Promise<void>;
};

/** Billing at its RPC edge, with one account. The real books are tested in billing. */
export async function givenBilling(keys: TestKeys, tls?: ServiceTls): Promise<FakeBilling> {
  let reserved = 0;
  const billing: FakeBilling = {
    rpc: '',
    state: {
      plan: 'business',
      allowance: 45_000,
      writesBlocked: false,
      overage: false,
      branching: true,
      storageBytes: 1024 ** 4,
    },
    reserved: () => reserved,
    booked: [],
    consoleCalls: [],
    calls: () => billing.booked.reduce((sum, part) => sum + part.calls, 0),
    close: async () => {},
  };
  const end = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1)).toISOString();
  const seen = new Set<string>();
  const handlers = {
    ReserveCalls: async (_call: unknown, request: { wanted: number }) => {
      const { state } = billing;
      const left = state.allowance - billing.calls() - reserved;
      const granted = state.overage ? request.wanted : Math.max(0, Math.min(request.wanted, left));
      reserved += granted;
      return {
        lease_id: granted > 0 ? crypto.randomUUID() : '',
        granted,
        expires_in_seconds: 30,
        allowance: state.allowance,
        remaining: left - granted,
        period_end: end,
        server_time: new Date().toISOString(),
        held_elsewhere: 0,
        billing: {
          plan: state.plan,
          billing_status: state.writesBlocked ? 'overdue' : 'current',
          writes_blocked: state.writesBlocked,
          writes_blocked_in_seconds: 0,
          overage_enabled: state.overage,
          branching_enabled: state.branching,
          allowance: state.allowance,
          storage_bytes: state.storageBytes,
        },
      };
    },
    CountConsoleCalls: async (_call: unknown, { served }: { served: FakeBilling['consoleCalls'] }) => {
      billing.consoleCalls.push(...served);
      return {};
    },
    SettleCalls: async (_call: unknown, request: SettleRequest) => {
      const key = `${request.lease_id} ${request.sequence}`;
      if (seen.has(key)) return { lease_open: !request.release, expires_in_seconds: 30 };
      seen.add(key);
      reserved -= request.give_back;
      for (const part of request.served) {
        reserved -= part.calls;
        billing.booked.push({
          lease: request.lease_id,
          sequence: request.sequence,
          calls: part.calls,
          method: part.method,
          resource: part.resource,
          application: part.application_id,
        });
      }
      return { lease_open: !request.release, expires_in_seconds: 30 };
    },
  };
  const rpc = await startRpc('billing', keys, handlers, tls);
  billing.rpc = rpc.address;
  billing.close = () => rpc.stop();
  return billing;
}

type SettleRequest = {
  lease_id: string;
  sequence: number;
  give_back: number;
  release: boolean;
  served: { method: string; resource: string; calls: number; application_id: number }[];
};

// Only the given methods answer; the gateway calls no others.
async function startRpc(
  service: 'identity' | 'billing',
  keys: TestKeys,
  given: Record<string, unknown>,
  tls: ServiceTls | undefined,
) {
  const names = Object.keys(loadServiceDefinition(service));
  const missing = async () => {
    throw new Error('not part of this test');
  };
  const callers: readonly Issuer[] = ['gateway'];
  const server = createRpcServer({
    service,
    host: '127.0.0.1',
    port: 0,
    handlers: Object.fromEntries(names.map((name) => [name, given[name] ?? missing])) as never,
    callers: Object.fromEntries(names.map((name) => [name, callers])) as never,
    verifyContext: createContextVerifier(keys.publicKeys),
    tls,
    logger: createLogger(service, 'silent'),
    metrics: createMetrics(),
  });
  const port = await server.start();
  return { address: `127.0.0.1:${port}`, stop: () => server.stop() };
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
