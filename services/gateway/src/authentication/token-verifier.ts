// Verifies access tokens (RFC 9068) against identity's keys. Results are cached by the token's
// hash.
import { ServiceError } from '@almanac/service-kit/errors';
import { jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Revocations } from './revocations.ts';
import type { SigningKeys } from './signing-keys.ts';
import { type Bearer, limitToken, readClaims, type Token, unauthenticated } from './token.ts';

export type TokenVerifier = {
  /**
   * The cached token; undefined when it isn't cached; throws 401 when it expired or was revoked.
   */
  findVerified(bearer: Bearer): Token | undefined;
  /** Verifies a token; 401 when it is not valid, 503 when it can't be verified. */
  verify(bearer: Bearer): Promise<Token>;
  /** Throws 401 when a token that was verified before has expired or was revoked since. */
  requireValid(token: Token): void;
};

type Options = { publicUrl: string; keys: SigningKeys; revocations: Revocations };

/** How far identity's clock may be ahead of this one. */
const clockToleranceMs = 30_000;

export function createTokenVerifier({ publicUrl, keys, revocations }: Options): TokenVerifier {
  const verified = new LRUCache<string, Token>({ max: 20_000 });
  keys.onRemoved(() => verified.clear());

  const requireValid = (token: Token) => {
    const now = Date.now();
    if (now >= token.expiresAtMs || token.issuedAtMs > now + clockToleranceMs) throw unauthenticated('Invalid token');
    revocations.require(token);
    limitToken(token, revocations.findLimit(token));
  };
  const requireRevocations = () => {
    if (!revocations.isReady())
      throw new ServiceError('unavailable', 'Tokens can not be verified at the moment; retry later.');
  };

  return {
    requireValid,
    findVerified({ hash }) {
      const token = verified.get(hash);
      if (token) requireValid(token);
      return token;
    },
    async verify({ text, hash }) {
      requireRevocations();
      const token = await check(text, publicUrl, keys);
      requireValid(token);
      verified.set(hash, token);
      return token;
    },
  };
}

// Unused bits at the end of a base64url text must be 0: otherwise one token would have several
// spellings.
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
