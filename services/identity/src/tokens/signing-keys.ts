// Keys that sign access tokens. There is always a current key and a next key; the next key is
// published before its first use, so that a cached key set can verify its first token. Replaced
// keys stay published until their last tokens have expired.
import { ServiceError } from '@almanac/service-kit/errors';
import { seal, unseal } from '@almanac/service-kit/text/sealed-text';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
  SignJWT,
} from 'jose';
import type { Prisma, PrismaClient, signing_key } from '../generated/prisma/client.ts';
import { announce, type Database, transact } from '../transaction.ts';

const algorithm = 'ES256';
const cacheMs = 30_000;
/** Another instance may sign with a replaced key while it has the key cached. */
const overlapSeconds = 120;

export type SigningKeys = {
  /**
   * Creates the first keys of a new installation, re-encrypts keys that the previous key-encryption
   * key had encrypted, and throws when a stored key can't be decrypted.
   */
  start(): Promise<void>;
  /** Signs a token with the current key. */
  sign(claims: JWTPayload, type: string): Promise<string>;
  /** The claims of a valid token; undefined for any other text. */
  verify(
    token: string,
    expected: { issuer: string; audience: string; typ: string; now: Date },
  ): Promise<JWTPayload | undefined>;
  /** The public keys: current, next, and replaced ones whose tokens may still be valid. */
  publicKeys(): Promise<{ keys: JWK[] }>;
  /** Makes the next key current and creates a new next key; returns the id of the current key. */
  rotate(): Promise<string>;
};

type Loaded = { kid: string; key: CryptoKey; keySet: { keys: JWK[] } };

type Options = {
  prisma: PrismaClient;
  encryptionKey: Buffer;
  previousEncryptionKey?: Buffer;
  accessTokenSeconds: number;
};

/** Signing keys in PostgreSQL, shared by all instances and cached for a moment. */
export function createSigningKeys(options: Options): SigningKeys {
  const { prisma, encryptionKey, previousEncryptionKey, accessTokenSeconds } = options;
  const encryptionKeys = previousEncryptionKey ? [encryptionKey, previousEncryptionKey] : [encryptionKey];
  const verifiesForSeconds = accessTokenSeconds + overlapSeconds;
  let loaded: Promise<Loaded> | undefined;
  let loadedAt = 0;

  const current = async (): Promise<Loaded> => {
    if (!loaded || Date.now() - loadedAt > cacheMs) {
      loadedAt = Date.now();
      loaded = load(prisma, encryptionKeys, verifiesForSeconds);
      loaded.catch(() => {
        loaded = undefined;
      });
    }
    return loaded;
  };
  const published = async () => keySetOf(await listPublished(prisma, verifiesForSeconds));
  const findKey: JWTVerifyGetKey = async (header, token) => {
    const { keySet } = await current();
    const isKnown = keySet.keys.some(({ kid }) => kid === header.kid);
    // Another instance may have rotated twice since the keys were cached. Only tokens that
    // authenticated applications send get here, so unknown key ids can't cause many queries.
    return createLocalJWKSet(isKnown ? keySet : await published())(header, token);
  };

  return {
    async start() {
      await transact({ prisma }, async (tx) => {
        await lockKeys(tx);
        if (previousEncryptionKey) await reencrypt(tx, encryptionKey, previousEncryptionKey);
        await addMissingKeys(tx, encryptionKey);
      });
      await current();
    },
    async sign(claims, type) {
      const { kid, key } = await current();
      return new SignJWT(claims).setProtectedHeader({ alg: algorithm, kid, typ: type }).sign(key);
    },
    async verify(token, { issuer, audience, typ, now }) {
      try {
        const { payload } = await jwtVerify(token, findKey, {
          algorithms: [algorithm],
          issuer,
          audience,
          typ,
          currentDate: now,
          requiredClaims: ['exp', 'iat', 'jti', 'sub'],
        });
        return payload;
      } catch (error) {
        if (error instanceof ServiceError || !isTokenError(error)) throw error;
        return undefined;
      }
    },
    publicKeys: published,
    async rotate() {
      const kid = await transact({ prisma }, async (tx) => {
        await lockKeys(tx);
        await addMissingKeys(tx, encryptionKey);
        await tx.$executeRaw`update signing_key set retired_at = now() where activated_at is not null and retired_at is null`;
        const next = await tx.signing_key.findFirstOrThrow({ where: { activated_at: null }, orderBy: { id: 'asc' } });
        await tx.$executeRaw`update signing_key set activated_at = now() where id = ${next.id}`;
        await addMissingKeys(tx, encryptionKey);
        await announce(tx, {}, 'signing_key.rotated', { kid: next.kid });
        return next.kid;
      });
      loaded = undefined;
      return kid;
    },
  };
}

// Errors of jose (a bad signature, an expired token) have codes of this form; a database error has
// not.
const isTokenError = (error: unknown) => /^ERR_J[A-Z]+_/.test(String((error as { code?: unknown }).code));

const lockKeys = (db: Database) => db.$queryRaw`select pg_advisory_xact_lock(hashtext('almanac.signing_key'))::text`;

async function addMissingKeys(db: Database, encryptionKey: Buffer): Promise<void> {
  const usable = await db.signing_key.findMany({ where: { retired_at: null }, orderBy: { id: 'asc' } });
  if (!usable.some((key) => key.activated_at !== null)) {
    const data = await newKey(encryptionKey);
    await db.signing_key.create({ data: { ...data, activated_at: new Date() } });
  }
  if (!usable.some((key) => key.activated_at === null))
    await db.signing_key.create({ data: await newKey(encryptionKey) });
}

async function newKey(encryptionKey: Buffer) {
  const pair = await generateKeyPair(algorithm, { extractable: true });
  const publicJwk = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint(publicJwk);
  const privateText = JSON.stringify(await exportJWK(pair.privateKey));
  const published = { ...publicJwk, kid, alg: algorithm, use: 'sig' };
  return {
    kid,
    public_jwk: published as Prisma.InputJsonObject,
    private_key: seal(encryptionKey, kid, privateText),
  };
}

async function reencrypt(db: Database, encryptionKey: Buffer, previous: Buffer): Promise<void> {
  for (const { id, kid, private_key } of await db.signing_key.findMany()) {
    const text = unseal(encryptionKey, kid, private_key) === undefined ? unseal(previous, kid, private_key) : undefined;
    if (text === undefined) continue;
    await db.signing_key.update({ where: { id }, data: { private_key: seal(encryptionKey, kid, text) } });
  }
}

/** The next key, and all keys that may have signed a token that is still valid. */
function listPublished(prisma: PrismaClient, verifiesForSeconds: number): Promise<signing_key[]> {
  return prisma.$queryRaw<signing_key[]>`
    select * from signing_key
    where retired_at is null or retired_at > now() - make_interval(secs => ${verifiesForSeconds}::int) order by id`;
}

const keySetOf = (rows: signing_key[]) => ({ keys: rows.map((row) => row.public_jwk as JWK) });

async function load(prisma: PrismaClient, encryptionKeys: Buffer[], verifiesForSeconds: number): Promise<Loaded> {
  const rows = await listPublished(prisma, verifiesForSeconds);
  const signing = rows.findLast((row) => row.activated_at !== null && row.retired_at === null);
  if (!signing) throw new Error('There is no current signing key.');
  const privateJwk: JWK = JSON.parse(decrypt(encryptionKeys, signing.kid, signing.private_key));
  return {
    kid: signing.kid,
    key: (await importJWK(privateJwk, algorithm)) as CryptoKey,
    keySet: keySetOf(rows),
  };
}

function decrypt(encryptionKeys: Buffer[], kid: string, sealed: Uint8Array): string {
  for (const encryptionKey of encryptionKeys) {
    const text = unseal(encryptionKey, kid, sealed);
    if (text !== undefined) return text;
  }
  throw new Error(
    'The signing key can not be decrypted: IDENTITY_KEY_ENCRYPTION_KEY is not the one it was stored with.',
  );
}
