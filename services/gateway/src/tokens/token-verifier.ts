// Verifies access tokens (RFC 9068) against identity's keys, once each: the result is remembered by the hash of the token.
import { ServiceError } from '@almanac/service-kit/errors';
import { jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Revocations } from './revocations.ts';
import type { SigningKeys } from './signing-keys.ts';
import { type Bearer, limitToken, readClaims, type Token, unauthenticated } from './token.ts';

export type TokenVerifier = {
  /** The token if it has been verified before and still holds; undefined if it must be verified; throws 401 if it is dead. */
  recall(bearer: Bearer): Token | undefined;
  /** Verifies a token; 401 when it doesn't hold, 503 when that can't be found out. */
  verify(bearer: Bearer): Promise<Token>;
};

type Options = { publicUrl: string; keys: SigningKeys; revocations: Revocations };

/** So far the clock of identity may be ahead of ours. */
const clockToleranceMs = 30_000;

export function createTokenVerifier({ publicUrl, keys, revocations }: Options): TokenVerifier {
  const remembered = new LRUCache<string, Token>({ max: 20_000 });
  keys.onRemoved(() => remembered.clear());

  const requireAlive = (token: Token) => {
    const now = Date.now();
    if (now >= token.expiresAtMs || token.issuedAtMs > now + clockToleranceMs) throw unauthenticated('Invalid token');
    revocations.require(token);
    limitToken(token, revocations.findLimit(token));
  };
  const requireKnowledge = () => {
    if (!revocations.isReady()) throw new ServiceError('unavailable', 'Tokens can not be checked just now; try again.');
  };

  return {
    recall({ hash }) {
      const token = remembered.get(hash);
      if (token) requireAlive(token);
      return token;
    },
    async verify({ text, hash }) {
      requireKnowledge();
      const token = await check(text, publicUrl, keys);
      requireAlive(token);
      remembered.set(hash, token);
      return token;
    },
  };
}

// Bits at the end of a base64url text that stand for nothing must be 0, or one token could be written in many ways.
const isCanonical = (part: string) => Buffer.from(part, 'base64url').toString('base64url') === part;

async function check(text: string, publicUrl: string, keys: SigningKeys): Promise<Token> {
  if (!text.split('.').every(isCanonical)) throw unauthenticated('Invalid token');
  try {
    const { payload } = await jwtVerify(text, keys.getKey, {
      algorithms: ['ES256'],
      typ: 'at+jwt',
      issuer: publicUrl,
      audience: `${publicUrl}/api/v1`,
      requiredClaims: ['exp', 'iat', 'jti', 'sub', 'client_id', 'account_id', 'scope'],
    });
    return readClaims(payload);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw unauthenticated('Invalid token');
  }
}
