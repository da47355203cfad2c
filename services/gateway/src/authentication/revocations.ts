// Tokens that were revoked before they expired, and the present scopes of applications. Both arrive
// as events; after a gap in the events the whole list is read from identity.
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
type RevokedTokens = { issuedBeforeMs: number; expiresAtMs: number; reason: string };
type ScopeLimit = { changedAtMs: number; expiresAtMs: number; scopes: string[] };

export type Revocations = {
  /** Throws 401 when the token, its application, user or account has been revoked. */
  require(token: Token): void;
  /**
   * The present scopes of the token's application if they have changed: the same array until they
   * change again. Undefined: no limit.
   */
  findLimit(token: Token): string[] | undefined;
  /** False until the list was read once; until then no token can be verified. */
  isReady(): boolean;
  /**
   * Subscribes to the events and reads the list; waits five seconds at most for the first answer.
   */
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

const firstAnswerTimeoutMs = 5_000;

// The list covers all accounts.
const allAccounts = { accountId: 0 };

export function createRevocations(options: Options): Revocations {
  const { identity, bus, logger, resyncMs = 60_000, pageSize = 5_000 } = options;
  const revoked = new Map<string, RevokedTokens>();
  const limits = new Map<string, ScopeLimit>();
  let ready = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let syncing: Promise<void> | undefined;
  let syncedAt = 0;
  let connections = 0;

  // Changes of one application's scopes may arrive out of order; the latest change counts.
  const addLimit = ({ subject, issued_before, expires_at, scope = '' }: Revocation) => {
    const changedAtMs = Date.parse(issued_before);
    if ((limits.get(subject)?.changedAtMs ?? 0) >= changedAtMs) return;
    limits.set(subject, { changedAtMs, expiresAtMs: Date.parse(expires_at), scopes: scope.split(' ') });
  };
  const add = (revocation: Revocation) => {
    if (revocation.kind === 'application_scope') return addLimit(revocation);
    const issuedBeforeMs = Date.parse(revocation.issued_before);
    const expiresAtMs = Date.parse(revocation.expires_at);
    const key = `${revocation.kind}:${revocation.subject}`;
    const before = revoked.get(key);
    if (before && before.issuedBeforeMs >= issuedBeforeMs && before.expiresAtMs >= expiresAtMs) return;
    revoked.set(key, { issuedBeforeMs, expiresAtMs, reason: revocation.reason });
  };

  // One account alone can have more revocations than a message holds.
  const readPages = async () => {
    let after = 0;
    do {
      const page = await identity.ListRevocations(allAccounts, { page_size: pageSize, after }, { deadlineMs: 5_000 });
      for (const revocation of page.revocations) add(revocation);
      after = page.more_after;
    } while (after > 0 && !stopped);
  };

  // The list is merged into the map and does not replace it: an event may arrive while it is read.
  // A revocation that is committed before its page is read is on that page. A later one is
  // announced by an event, and the subscription is older than the first page. Only a connection
  // that was lost in between can miss it; then all pages are read again.
  const readList = async () => {
    const connectionsBefore = connections;
    await readPages();
    if (stopped) return;
    for (const entries of [revoked, limits] as Map<string, { expiresAtMs: number }>[])
      for (const [key, { expiresAtMs }] of entries) if (expiresAtMs < Date.now()) entries.delete(key);
    if (!ready) logger.info({ revocations: revoked.size }, 'revocations were read');
    ready = true;
    syncedAt = connections === connectionsBefore ? Date.now() : 0;
  };
  const sync = () => {
    syncing ??= readList()
      .catch((error) => logger.warn({ err: error }, 'revocations could not be read; retrying'))
      .finally(() => {
        syncing = undefined;
      });
    return syncing;
  };

  // While the bus is disconnected no events arrive, so the list is read every second.
  const loop = async () => {
    if (!ready || !bus.isReady() || Date.now() - syncedAt > resyncMs) await sync();
    if (!stopped) timer = setTimeout(loop, ready ? 1_000 : 250);
  };

  const onConnected = () => {
    connections += 1;
    void sync();
  };
  const onEvent = (message: MessageOf<typeof payloads>) => {
    if (message.type === 'identity.token.revoked') add(message.payload);
    else void sync();
  };

  const find = (kind: string, subject: string | number, token: Token) => {
    const revocation = revoked.get(`${kind}:${subject}`);
    return revocation && (kind === 'token' || token.issuedAtMs < revocation.issuedBeforeMs) ? revocation : undefined;
  };

  return {
    require(token) {
      if (revoked.size === 0) return;
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
      await bus.subscribe(payloads, async (message) => onEvent(message), { onConnected });
      void loop();
      for (let waited = 0; !ready && waited < firstAnswerTimeoutMs; waited += 50) await sleep(50);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await syncing;
    },
  };
}
