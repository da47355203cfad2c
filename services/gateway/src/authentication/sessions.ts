// Sessions of browsers, for calls of the console. Identity resolves the session id of the cookie to
// its user; the result is cached by the digest of the id. The end of a session arrives as the
// revocation of a token (revocations.ts).
import { createHash } from 'node:crypto';
import { endedSession } from '@almanac/service-kit/caller/unauthenticated';
import { ServiceError } from '@almanac/service-kit/errors';
import { cookieName, findCookie } from '@almanac/service-kit/http/cookies';
import type { RpcClient } from '@almanac/service-kit/rpc/contract';
import { LRUCache } from 'lru-cache';
import type { Revocations } from './revocations.ts';
import type { Token } from './token.ts';

export type Sessions = {
  /**
   * The session of the browser that sent this header `Cookie`; 401 when there is none or it has
   * ended, 503 when it can't be resolved. `isFresh` asks identity, whatever is cached or has been
   * asked before.
   */
  resolve(cookies: string | undefined, options?: { isFresh?: boolean }): Promise<Token>;
};

type Options = {
  publicUrl: string;
  identity: Pick<RpcClient<'identity'>, 'ResolveSession'>;
  revocations: Pick<Revocations, 'require' | 'isReady'>;
};

/** Identity learns of the use of a session at most this much later. */
const ttlMs = 30_000;

// The session names its account.
const anyAccount = { accountId: 0 };

export function createSessions({ publicUrl, identity, revocations }: Options): Sessions {
  const name = cookieName(publicUrl, 'session');
  const cached = new LRUCache<string, Token>({ max: 20_000, ttl: ttlMs });
  const resolving = new Map<string, Promise<Token>>();

  // Replaces a question in flight: its answer may be older than what this call wants to know, so it
  // is not cached.
  const ask = (key: string): Promise<Token> => {
    const isCurrent = () => resolving.get(key) === asked;
    const asked = resolveSession(identity, Buffer.from(key, 'base64url'))
      .then((token) => {
        if (isCurrent()) cached.set(key, token);
        return token;
      })
      .finally(() => {
        if (isCurrent()) resolving.delete(key);
      });
    resolving.set(key, asked);
    return asked;
  };
  // The calls of a page that has just been opened share one question.
  const askOnce = (key: string): Promise<Token> => resolving.get(key) ?? ask(key);
  const find = async (key: string): Promise<Token> => {
    const known = cached.get(key);
    return known && known.expiresAtMs > Date.now() ? known : askOnce(key);
  };

  return {
    async resolve(cookies, { isFresh = false } = {}) {
      if (!revocations.isReady())
        throw new ServiceError('unavailable', 'Sessions can not be verified at the moment; retry later.');
      const id = findCookie(cookies, name);
      if (id === undefined || !/^[A-Za-z0-9_-]{43}$/.test(id)) throw endedSession();
      const key = createHash('sha256').update(id).digest('base64url');
      const token = await (isFresh ? ask(key) : find(key));
      // Also for an answer that was on its way when the session ended.
      requireGoingOn(token, revocations);
      return token;
    },
  };
}

async function resolveSession(identity: Options['identity'], digest: Buffer): Promise<Token> {
  try {
    const session = await identity.ResolveSession(anyAccount, { digest });
    return {
      id: `session:${session.id}`,
      accountId: session.account_id,
      userId: session.user_id,
      clientId: '',
      granted: ['api'],
      scopes: ['api'],
      issuedAtMs: Date.parse(session.started_at),
      expiresAtMs: Date.parse(session.expires_at),
      session: { id: session.id, confirmedUntilMs: Date.parse(session.confirmed_until) },
    };
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'not_found') throw endedSession();
    throw error;
  }
}

function requireGoingOn(token: Token, revocations: Options['revocations']): void {
  try {
    revocations.require(token);
  } catch {
    throw endedSession();
  }
}
