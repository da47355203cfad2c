// Keys and passwords of an embedded system: generated once, stored in secrets.json (mode 0600),
// never printed.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmodSync, existsSync } from 'node:fs';
import { type Home, readJson, readText, writeJson } from './home.ts';

export const issuers = ['gateway', 'identity', 'metadata', 'data', 'jobs', 'billing', 'console', 'operator'] as const;
export type Issuer = (typeof issuers)[number];

type Jwk = Record<string, unknown>;

/** The demo account of the first start, stored so that an interrupted start can continue. */
export type DemoAccount = {
  account_id: number;
  admin: { email: string; password: string };
  application: { client_id: string; client_secret: string; redirect_uri: string };
  /** Missing in accounts of earlier releases. */
  people?: Record<'steward' | 'approver', { email: string; password: string }>;
};

export type Secrets = {
  context_keys: Record<Issuer, Jwk>;
  database_passwords: Record<string, string>;
  key_encryption_key: string;
  object_store_key: string;
  demo?: DemoAccount;
};

/**
 * Reads the secrets, and generates those that don't exist yet. Throws without a change when they
 * can't be read, or are missing while their data exists: new ones would not open it.
 */
export function readOrMakeSecrets(home: Home, databases: readonly string[]): Secrets {
  const kept = readKept(home);
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

function readKept({ secrets, postgres, folder }: Home): Partial<Secrets> {
  if (!existsSync(secrets)) {
    if (!existsSync(postgres)) return {};
    throw new Error(
      `${secrets} is missing. It holds the keys to the data in ${folder}: put it back from a copy, or move the whole folder away to start with a new one.`,
    );
  }
  const text = readText(secrets);
  try {
    return JSON.parse(text) as Partial<Secrets>;
  } catch {
    // The cause would quote the text.
    throw new Error(
      `${secrets} is no JSON. It holds the keys to the data in ${folder}: mend it, or put it back from a copy. It was left as it is.`,
    );
  }
}

/** Stores the demo account beside the other secrets. */
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

/** The public keys of all issuers, for the environment of every service. */
export function publicKeySet(secrets: Secrets): { keys: Jwk[] } {
  return { keys: issuers.map((issuer) => ({ ...secrets.context_keys[issuer], d: undefined })) };
}
