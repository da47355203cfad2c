// Ed25519 keys for call contexts: one per issuer, as the embedded system and deployments have them.
import type { Issuer } from '@almanac/service-kit/caller/call-context';
import { exportJWK, generateKeyPair, type JWK } from 'jose';

export const issuers = [
  'gateway',
  'identity',
  'metadata',
  'data',
  'jobs',
  'billing',
  'console',
  'operator',
] as const satisfies Issuer[];

export type TestKeys = {
  privateKeys: Record<Issuer, JWK>;
  publicKeys: { keys: Record<string, unknown>[] };
  /** Variables that services read: ALMANAC_CONTEXT_KEYS, and X_CONTEXT_KEY for each issuer X. */
  env: Record<string, string>;
};

/** New keys for all issuers. */
export async function createTestKeys(): Promise<TestKeys> {
  const pairs = await Promise.all(issuers.map(createPair));
  const publicKeys = { keys: pairs.map((pair) => pair.publicJwk as Record<string, unknown>) };
  const privateKeys = Object.fromEntries(pairs.map((pair) => [pair.issuer, pair.privateJwk])) as Record<Issuer, JWK>;
  const own = pairs.map((pair) => [`${pair.issuer.toUpperCase()}_CONTEXT_KEY`, JSON.stringify(pair.privateJwk)]);
  return {
    privateKeys,
    publicKeys,
    env: { ALMANAC_CONTEXT_KEYS: JSON.stringify(publicKeys), ...Object.fromEntries(own) },
  };
}

async function createPair(issuer: Issuer) {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  const attributes = { kid: issuer, alg: 'EdDSA', use: 'sig' };
  const [publicJwk, privateJwk] = await Promise.all([exportJWK(publicKey), exportJWK(privateKey)]);
  return { issuer, publicJwk: { ...publicJwk, ...attributes }, privateJwk: { ...privateJwk, ...attributes } };
}
