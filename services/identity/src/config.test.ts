import { readConfig } from './config.ts';

const key = JSON.stringify({ kty: 'OKP' });
const env = {
  ALMANAC_BUS_URL: 'postgres://localhost/bus',
  ALMANAC_CONTEXT_KEYS: '{"keys":[]}',
  IDENTITY_CONTEXT_KEY: key,
  IDENTITY_DATABASE_URL: 'postgres://localhost/identity',
  IDENTITY_KEY_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64url'),
};

describe('readConfig', () => {
  it('needs the secrets only; the rest has defaults', () => {
    expect(readConfig(env)).toMatchObject({
      common: { name: 'identity', httpPort: 8081, publicUrl: 'http://127.0.0.1:8080' },
      rpcPort: 9081,
      billingRpc: '127.0.0.1:9085',
      accessTokenSeconds: 7_200,
      secrets: { keyEncryptionKey: Buffer.alloc(32, 7) },
    });
  });

  it('knows the key-encryption key of before while it is being replaced', () => {
    const previous = Buffer.alloc(32, 8);
    const both = { ...env, IDENTITY_PREVIOUS_KEY_ENCRYPTION_KEY: previous.toString('base64url') };
    expect(readConfig(both).secrets.previousKeyEncryptionKey).toEqual(previous);
    expect(readConfig(env).secrets.previousKeyEncryptionKey).toBeUndefined();
  });

  it('takes less memory for a password hash in tests only', () => {
    const cheap = { ...env, IDENTITY_PASSWORD_MEMORY_KIB: '8' };
    expect(readConfig(env).passwordMemoryKib).toBe(19_456);
    expect(readConfig({ ...env, IDENTITY_PASSWORD_MEMORY_KIB: '65536' }).passwordMemoryKib).toBe(65_536);
    expect(readConfig({ ...cheap, NODE_ENV: 'test' }).passwordMemoryKib).toBe(8);
    for (const NODE_ENV of [undefined, '', 'production'])
      expect(() => readConfig({ ...cheap, NODE_ENV })).toThrow(/IDENTITY_PASSWORD_MEMORY_KIB/);
  });

  it('reports every problem together', () => {
    const bad = {
      ...env,
      IDENTITY_KEY_ENCRYPTION_KEY: 'short',
      IDENTITY_PREVIOUS_KEY_ENCRYPTION_KEY: 'short',
      IDENTITY_ACCESS_TOKEN_SECONDS: '5',
      IDENTITY_DATABASE_URL: '',
    };
    expect(() => readConfig(bad)).toThrow(/4 problem\(s\)/);
    expect(() => readConfig({})).toThrow(/IDENTITY_KEY_ENCRYPTION_KEY is missing/);
  });
});
