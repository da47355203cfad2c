// Fixtures of identity's tests: the whole service over its own database and bus, called over HTTP
// and gRPC. Billing is faked at the RPC edge.

import { randomBytes } from 'node:crypto';
import { Browser, type Button, type Form, type PageSeen } from '@almanac/api-client/browser';
import { type CallClaims, createContextSigner, createContextVerifier } from '@almanac/service-kit/caller/call-context';
import type { BusMessage } from '@almanac/service-kit/messaging/bus/bus';
import { samePayload } from '@almanac/service-kit/messaging/bus/received-message';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { createMetrics } from '@almanac/service-kit/observability/metrics';
import type { Service } from '@almanac/service-kit/process/run';
import { createRpcClient } from '@almanac/service-kit/rpc/client';
import type { RpcClient } from '@almanac/service-kit/rpc/contract';
import { createRpcServer } from '@almanac/service-kit/rpc/server';
import { type Call, createCaller } from '@almanac/testkit/calls/call';
import { createTestKeys, type TestKeys } from '@almanac/testkit/calls/keys';
import { eventually } from '@almanac/testkit/eventually';
import { anyPayload, collectMessages, startBus } from '@almanac/testkit/messaging/bus';
import { findFreePort } from '@almanac/testkit/network/ports';
import { createTestDatabase } from '@almanac/testkit/postgres/postgres';
import { createServiceDatabase } from '@almanac/testkit/postgres/service-database';
import { watchLog } from '@almanac/testkit/secrets/watched-logs';
import { waitLonger } from '@almanac/testkit/time-limits';
import { readConfig } from '../src/config.ts';
import type { IdentityContext } from '../src/context.ts';
import { createIdentity } from '../src/service.ts';

export const redirectUri = 'http://127.0.0.1:9876/callback';

/** The answer of `CreateAccount`, with a caller for its machine and one for its administrator. */
export type Account = {
  account_id: number;
  admin_user_id: number;
  admin_email: string;
  admin_password: string;
  client_id: string;
  client_secret: string;
  machine: Call;
  admin: Call;
};

export type Identity = {
  url: string;
  context: IdentityContext;
  keys: TestKeys;
  /** Calls as one of the issuers. */
  rpc(issuer: 'gateway' | 'metadata' | 'operator' | 'jobs'): RpcClient<'identity'>;
  /** REST calls with these claims. */
  as(claims: Partial<CallClaims>): Call;
  account(redirect?: string): Promise<Account>;
  /** Events that the service has announced. */
  events: BusMessage[];
  /** Mails that the service has requested. */
  mails: BusMessage[];
  /** The log of all instances. */
  log(): string;
  /** The number of dead letters of a queue. */
  deadLetters(queue: string): Promise<number>;
  publish(type: string, payload: Record<string, unknown>): Promise<BusMessage>;
  billing: { overage_enabled: boolean };
  /** Starts another instance over the same database and bus. */
  another(): Promise<Pick<Identity, 'url' | 'context'>>;
  /** Stops everything; throws when the log, an error or an event contains a secret. */
  close(): Promise<void>;
};

const eventTypes = [
  'identity.account.closed',
  'identity.account.created',
  'identity.account_erasure.requested',
  'identity.user.deleted',
  'identity.token.revoked',
  'identity.application.changed',
  'identity.permission.changed',
  'identity.audit.recorded',
];

export async function givenIdentity(env: Record<string, string> = {}): Promise<Identity> {
  const log = watchLog();
  waitLonger();
  const [database, busDatabase] = await Promise.all([createServiceDatabase('identity'), createTestDatabase('bus')]);
  const keys = await createTestKeys();
  const billing = await startBilling(keys);
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const settings = {
    ...keys.env,
    ALMANAC_PUBLIC_URL: url,
    ALMANAC_BUS_URL: busDatabase.url,
    ALMANAC_LOG_LEVEL: 'trace',
    IDENTITY_HTTP_PORT: String(port),
    IDENTITY_RPC_PORT: '0',
    IDENTITY_DATABASE_URL: database.url,
    IDENTITY_KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
    BILLING_RPC: billing.address,
    NODE_ENV: 'test',
    IDENTITY_PASSWORD_MEMORY_KIB: '8',
    ...env,
  };
  log.note({ key_encryption_key: settings.IDENTITY_KEY_ENCRYPTION_KEY });
  const service = await createIdentity(readConfig(settings), { log: log.destination });
  const { rpcPort } = await service.start();
  const others: Service<IdentityContext>[] = [];

  const events: BusMessage[] = [];
  const bus = await startBus(busDatabase.url, 'listener');
  await bus.subscribe(samePayload(eventTypes, anyPayload), (message) => void events.push(message));
  const mails = await collectMessages(bus, 'listener.mail', ['identity.mail.requested']);

  const clients = new Map<string, ReturnType<typeof createRpcClient<'identity'>>>();
  for (const issuer of ['gateway', 'metadata', 'operator', 'jobs'] as const) {
    const sign = await createContextSigner(issuer, keys.privateKeys[issuer]);
    const { client, close } = createRpcClient('identity', `127.0.0.1:${rpcPort}`, sign);
    clients.set(issuer, { client: log.watched(client), close });
  }
  const rpc: Identity['rpc'] = (issuer) => (clients.get(issuer) as { client: RpcClient<'identity'> }).client;
  const as: Identity['as'] = (claims) => {
    const call = createCaller(url, keys, claims);
    return (method, path, body, headers) => call(method, `/api/v1${path}`, body, headers);
  };
  let made = 0;

  return {
    url,
    context: service.context,
    keys,
    rpc,
    as,
    async account(redirect = redirectUri) {
      made += 1;
      const answer = await rpc('operator').CreateAccount(
        { accountId: 0 },
        { name: `Account ${made}`, admin_email: `Admin${made}@example.com`, redirect_uri: redirect, plan: 'business' },
      );
      const { account_id: accountId, admin_user_id: userId } = answer;
      return { ...answer, machine: as({ accountId }), admin: as({ accountId, userId }) };
    },
    events,
    mails,
    log: log.text,
    async publish(type, payload) {
      const message = { v: 1, id: crypto.randomUUID(), type, occurred_at: new Date().toISOString(), payload } as const;
      await eventually(() => bus.publish([message])); // refused until the queues of all services exist
      return message;
    },
    deadLetters: (queue) => bus.deadLetters(queue),
    billing: billing.state,
    async another() {
      const other = await createIdentity(readConfig({ ...settings, IDENTITY_HTTP_PORT: '0' }), {
        log: log.destination,
      });
      others.push(other);
      const { httpPort } = await other.start();
      return { url: `http://127.0.0.1:${httpPort}`, context: other.context };
    },
    async close() {
      for (const { close } of clients.values()) close();
      await bus.stop();
      await Promise.all([service, ...others].map((each) => each.stop()));
      await billing.stop();
      await Promise.all([database.drop(), busDatabase.drop()]);
      log.expectNoSecret({ 'an announcement': [events, mails] });
    },
  };
}

async function startBilling(keys: TestKeys) {
  const state = { overage_enabled: false };
  const present = () => ({
    plan: 'business',
    billing_status: 'current',
    overdue_since: '',
    writes_blocked: false,
    writes_blocked_in_seconds: 0,
    overage_enabled: state.overage_enabled,
    branching_enabled: true,
    allowance: 45_000,
    period_start: '2026-11-01T00:00:00.000Z',
    period_end: '2026-12-01T00:00:00.000Z',
    calls: 12,
    overage_calls: 0,
  });
  const unused = async () => {
    throw new Error('identity does not call this');
  };
  const server = createRpcServer({
    service: 'billing',
    host: '127.0.0.1',
    port: 0,
    handlers: {
      GetAccountBilling: async () => present(),
      UpdateAccountBilling: async (_call, { overage_enabled }) => {
        if (overage_enabled !== undefined) state.overage_enabled = overage_enabled;
        return present();
      },
      ReserveCalls: unused,
      SettleCalls: unused,
      CountConsoleCalls: unused,
      OpenAccount: unused,
      GetUsage: unused,
      GetStatement: unused,
      ListBillingEvents: unused,
      ListOverageRates: unused,
      AddOverageRate: unused,
    },
    callers: {
      GetAccountBilling: ['identity'],
      UpdateAccountBilling: ['identity'],
      ReserveCalls: [],
      SettleCalls: [],
      CountConsoleCalls: [],
      OpenAccount: [],
      GetUsage: [],
      GetStatement: [],
      ListBillingEvents: [],
      ListOverageRates: [],
      AddOverageRate: [],
    },
    verifyContext: createContextVerifier(keys.publicKeys),
    tls: undefined,
    logger: createLogger('billing', 'silent'),
    metrics: createMetrics({ processMetrics: false }),
  });
  return { state, address: `127.0.0.1:${await server.start()}`, stop: () => server.stop() };
}

export type TokenAnswer = {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any answer
  body: any;
};

/** Posts a form to one of the OAuth endpoints. */
export async function postForm(
  url: string,
  form: Record<string, string> | [string, string][] | string,
  headers: Record<string, string> = {},
): Promise<TokenAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(form).toString(),
  });
  const text = await response.text();
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {}
  return { status: response.status, headers: response.headers, body };
}

export const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});

type Request = Record<string, string | undefined>;

/** The address of an authorization request; undefined leaves a parameter out. */
export function authorizeUrl(identity: Identity, client: { client_id: string }, request: Request = {}): string {
  const parameters = {
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'api',
    ...request,
  };
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return `${identity.url}/oauth/authorize?${new URLSearchParams(given)}`;
}

type Credentials = { email: string; password: string };

export const adminOf = (account: Omit<Account, 'machine' | 'admin'>): Credentials => ({
  email: account.admin_email,
  password: account.admin_password,
});

/**
 * Opens an authorization request and logs in if needed; returns the consent page or the redirect.
 */
async function openRequest(browser: Browser, url: string, user: Credentials): Promise<PageSeen> {
  const page = await browser.open(url);
  const form = page.forms.find((each) => each.passwordField);
  if (!form) return page;
  const answer = await browser.submit(page, form, user);
  return answer.location ? browser.open(answer.location) : answer;
}

/** Opens an authorization request with `prompt=consent` and logs in; returns the consent page. */
export function openConsent(browser: Browser, url: string, user: Credentials): Promise<PageSeen> {
  return openRequest(browser, `${url}&prompt=consent`, user);
}

/** Logs in, gives consent if asked, and returns the redirect. */
export async function allow(url: string, user: Credentials, browser = new Browser()): Promise<PageSeen> {
  const page = await openRequest(browser, url, user);
  if (page.location) return page;
  return browser.submit(page, ...pressOf(page, '/oauth/authorize', 'allow'));
}

/** A browser in which a user has logged in without an application. */
export async function logInAlone(
  identity: Identity,
  user: Credentials,
  more: Record<string, string> = {},
): Promise<Browser> {
  const browser = new Browser();
  const page = await browser.open(`${identity.url}/oauth/login`);
  const answer = await browser.submit(page, formOf(page, '/oauth/login'), { ...user, ...more });
  if (answer.status !== 303) throw new Error(`Not logged in: ${answer.status} ${answer.html.slice(0, 1_000)}`);
  return browser;
}

/** The form of a page with this action, and its button with this value, for `submit`. */
export function pressOf(page: PageSeen, action: string, value: string): [Form, Record<string, string>, Button] {
  const form = formOf(page, action);
  const button = form.buttons.find((each) => each.value === value);
  if (!button) throw new Error(`No button ${value} in ${action}`);
  return [form, {}, button];
}

/** The form of a page with this action. */
export function formOf(page: PageSeen, action: string): Form {
  const form = page.forms.find((each) => each.action === action);
  if (!form) throw new Error(`No form ${action}: ${page.status} ${page.html.slice(0, 500)}`);
  return form;
}

/** A new code of the account's administrator. */
export async function codeOf(
  identity: Identity,
  account: Omit<Account, 'machine' | 'admin'>,
  request: Request = {},
): Promise<string> {
  const page = await allow(authorizeUrl(identity, account, request), adminOf(account));
  return new URL(page.location as string).searchParams.get('code') as string;
}

/** Exchanges a code with the first application's credentials. */
export function exchange(
  identity: Pick<Identity, 'url'>,
  account: Pick<Account, 'client_id' | 'client_secret'>,
  code: string,
  more: Record<string, string> = {},
): Promise<TokenAnswer> {
  const { client_id, client_secret } = account;
  const form = { grant_type: 'authorization_code', client_id, client_secret, code, redirect_uri: redirectUri, ...more };
  return postForm(`${identity.url}/oauth/token`, form);
}

export function refresh(
  identity: Pick<Identity, 'url'>,
  account: Pick<Account, 'client_id' | 'client_secret'>,
  refresh_token: string,
  more: Record<string, string> = {},
): Promise<TokenAnswer> {
  const { client_id, client_secret } = account;
  return postForm(`${identity.url}/oauth/token`, {
    grant_type: 'refresh_token',
    client_id,
    client_secret,
    refresh_token,
    ...more,
  });
}

/** Entries of the audit log of an account with this action, oldest first. */
export async function actsOf(identity: Identity, account: Pick<Account, 'account_id'>, action: string) {
  const where = { account_id: account.account_id, action };
  return identity.context.prisma.audit_event.findMany({ where, orderBy: { id: 'asc' } });
}

/**
 * Deletes a row of a table while `read` waits to read the table. What `read` has read of other
 * tables before, it keeps.
 */
export async function whileHeld<T>(
  { context: { prisma } }: Identity,
  table: 'user' | 'user_group',
  read: () => Promise<T>,
  id: number,
): Promise<T> {
  let reading: Promise<T> | undefined;
  await prisma.$transaction(
    async (tx) => {
      await tx.$executeRawUnsafe(`lock table "${table}" in access exclusive mode`);
      reading = read();
      reading.catch(() => {}); // awaited below
      await eventually(async () => {
        const waiting = await prisma.$queryRawUnsafe<unknown[]>(
          `select from pg_locks where relation = '"${table}"'::regclass and mode = 'AccessShareLock' and not granted
             and database = (select oid from pg_database where datname = current_database())`,
        );
        expect(waiting.length).toBeGreaterThan(0);
      });
      await tx.$executeRawUnsafe(`delete from "${table}" where id = $1`, id);
    },
    { timeout: 120_000 },
  );
  return reading as Promise<T>;
}
