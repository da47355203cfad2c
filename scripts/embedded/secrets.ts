// Keys and passwords of an embedded system: made once, kept in secrets.json (mode 0600), never printed.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { type Home, readJson, writeJson } from './home.ts';

export const issuers = ['gateway', 'identity', 'metadata', 'data', 'jobs', 'billing', 'operator'] as const;
export type Issuer = (typeof issuers)[number];

type Jwk = Record<string, unknown>;

/** What the first start learned about the demo account; kept here so that a start cut off half-way can go on. */
export type DemoAccount = {
  account_id: number;
  admin: { email: string; password: string };
  application: { client_id: string; client_secret: string; redirect_uri: string };
};

export type Secrets = {
  context_keys: Record<Issuer, Jwk>;
  database_passwords: Record<string, string>;
  key_encryption_key: string;
  object_store_key: string;
  demo?: DemoAccount;
};

/** Reads the secrets, making those that aren't there yet. */
export function readOrMakeSecrets(home: Home, databases: readonly string[]): Secrets {
  const kept = readJson<Partial<Secrets>>(home.secrets) ?? {};
  const secrets: Secrets = {
    ...kept,
    context_keys: Object.fromEntries(
      issuers.map((issuer) => [issuer, kept.context_keys?.[issuer] ?? makeContextKey(issuer)]),
    ) as Record<Issuer, Jwk>,
    database_passwords: Object.fromEntries(
      databases.map((name) => [name, kept.database_passwords?.[name] ?? randomBytes(24).toString('base64url')]),
    ),
    key_encryption_key: kept.key_encryption_key ?? randomBytes(32).toString('base64url'),
    object_store_key: kept.object_store_key ?? randomBytes(32).toString('base64url'),
  };
  if (JSON.stringify(kept) !== JSON.stringify(secrets)) writeJson(home.secrets, secrets);
  chmodSync(home.secrets, 0o600);
  return secrets;
}

/** Keeps the demo account beside the other secrets. */
export function keepDemoAccount(home: Home, demo: DemoAccount): void {
  writeJson(home.secrets, { ...readJson<Secrets>(home.secrets), demo });
}

function makeContextKey(issuer: Issuer): Jwk {
  return {
    ...generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }),
    kid: issuer,
    alg: 'EdDSA',
    use: 'sig',
  };
}

/** The public halves of all issuers' keys, as every service is given them. */
export function publicKeySet(secrets: Secrets): { keys: Jwk[] } {
  return { keys: issuers.map((issuer) => ({ ...secrets.context_keys[issuer], d: undefined })) };
}
