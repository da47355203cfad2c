// Which tokens are dead before their time, and which may do less than they were issued with: fed by events, and by asking identity whenever events may have been missed.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import type { MessageOf } from '@almanac/service-kit/messaging/bus/received-message';
import type { Logger } from '@almanac/service-kit/observability/logger';
import type { RpcClient } from '@almanac/service-kit/rpc/contract';
import { z } from 'zod';
import { type Token, unauthenticated } from './token.ts';

const instant = z.iso.datetime({ offset: true });
const revocationSchema = z.object({
  kind: z.string().max(100),
  subject: z.string().max(1_000),
  issued_before: instant,
  expires_at: instant,
  reason: z.string().max(100),
  scope: z.string().max(10_000).optional(),
});
type Revocation = z.infer<typeof revocationSchema>;
const payloads = {
  'identity.token.revoked': revocationSchema,
  'identity.application.changed': z.object({}),
  'identity.user.deleted': z.object({}),
};
type Known = { issuedBeforeMs: number; expiresAtMs: number; reason: string };
type Limit = { saidAtMs: number; expiresAtMs: number; scopes: string[] };

export type Revocations = {
  /** Throws 401 when the token, its application, user or account has been revoked. */
  require(token: Token): void;
  /**
   * What tokens of this one's application may do at most, the same array as long as nobody says otherwise; undefined: what they
   * were issued with.
   */
  findLimit(token: Token): string[] | undefined;
  /** False until identity has been asked once: nothing can be let in before. */
  isReady(): boolean;
  /** Listens, asks, and goes on asking; waits a moment for identity's first answer. */
  start(): Promise<void>;
  stop(): Promise<void>;
};

type Options = {
  identity: Pick<RpcClient<'identity'>, 'ListRevocations'>;
  bus: Bus;
  logger: Logger;
  resyncMs?: number;
  pageSize?: number;
};

const firstAnswerMs = 5_000;

// No account: the list is that of all.
const everybody = { accountId: 0 };

export function createRevocations(options: Options): Revocations {
  const { identity, bus, logger, resyncMs = 60_000, pageSize = 5_000 } = options;
  const known = new Map<string, Known>();
  const limits = new Map<string, Limit>();
  let ready = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let syncing: Promise<void> | undefined;
  let syncedAt = 0;
  let connections = 0;

  // Words about the scopes of one application may come out of order; the last that was said counts.
  const limit = ({ subject, issued_before, expires_at, scope = '' }: Revocation) => {
    const saidAtMs = Date.parse(issued_before);
    if ((limits.get(subject)?.saidAtMs ?? 0) >= saidAtMs) return;
    limits.set(subject, { saidAtMs, expiresAtMs: Date.parse(expires_at), scopes: scope.split(' ') });
  };
  const add = (revocation: Revocation) => {
    if (revocation.kind === 'application_scope') return limit(revocation);
    const issuedBeforeMs = Date.parse(revocation.issued_before);
    const expiresAtMs = Date.parse(revocation.expires_at);
    const key = `${revocation.kind}:${revocation.subject}`;
    const before = known.get(key);
    if (before && before.issuedBeforeMs >= issuedBeforeMs && before.expiresAtMs >= expiresAtMs) return;
    known.set(key, { issuedBeforeMs, expiresAtMs, reason: revocation.reason });
  };

  // Page by page: one account alone can have more of them than a message holds. An identity that knows no pages answers all in the first.
  const askForPages = async () => {
    let after = 0;
    do {
      const page = await identity.ListRevocations(everybody, { page_size: pageSize, after }, { deadlineMs: 5_000 });
      for (const revocation of page.revocations) add(revocation);
      after = page.more_after;
    } while (after > 0 && !stopped);
  };

  // Added to what is known, never in its place: an event may have come while the list was on its way. A revocation that is committed
  // before its page is read stands there; one that is committed later is told by an event after that, which we hear, since we have
  // listened from before the first page on. If the bus was away meanwhile we may not have, and ask for all pages again.
  const ask = async () => {
    const listeningSince = connections;
    await askForPages();
    if (stopped) return;
    for (const told of [known, limits] as Map<string, { expiresAtMs: number }>[])
      for (const [key, { expiresAtMs }] of told) if (expiresAtMs < Date.now()) told.delete(key);
    if (!ready) logger.info({ revocations: known.size }, 'revocations known');
    ready = true;
    syncedAt = connections === listeningSince ? Date.now() : 0;
  };
  const sync = () => {
    syncing ??= ask()
      .catch((error) => logger.warn({ err: error }, 'revocations could not be read; asking again'))
      .finally(() => {
        syncing = undefined;
      });
    return syncing;
  };

  // While the bus is away nobody tells us, so we ask each second.
  const loop = async () => {
    if (!ready || !bus.isReady() || Date.now() - syncedAt > resyncMs) await sync();
    if (!stopped) timer = setTimeout(loop, ready ? 1_000 : 250);
  };

  const hearAgain = () => {
    connections += 1;
    void sync();
  };
  const hear = (message: MessageOf<typeof payloads>) => {
    if (message.type === 'identity.token.revoked') add(message.payload);
    else void sync();
  };

  const find = (kind: string, subject: string | number, token: Token) => {
    const revocation = known.get(`${kind}:${subject}`);
    return revocation && (kind === 'token' || token.issuedAtMs < revocation.issuedBeforeMs) ? revocation : undefined;
  };

  return {
    require(token) {
      if (known.size === 0) return;
      const revocation =
        (token.userId === undefined ? undefined : find('user', token.userId, token)) ??
        find('token', token.id, token) ??
        find('application', token.clientId, token) ??
        find('account', token.accountId, token);
      if (!revocation) return;
      if (revocation.reason === 'user_deleted' || revocation.reason === 'user_suspended')
        throw unauthenticated('Invalid resource owner');
      if (revocation.reason === 'account_mismatch') throw unauthenticated('Token/user account mismatch');
      throw unauthenticated('Invalid token');
    },
    findLimit: ({ clientId }) => (limits.size === 0 ? undefined : limits.get(clientId)?.scopes),
    isReady: () => ready,
    async start() {
      await bus.subscribe(payloads, async (message) => hear(message), { onConnected: hearAgain });
      void loop();
      for (let waited = 0; !ready && waited < firstAnswerMs; waited += 50) await sleep(50);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await syncing;
    },
  };
}
