import type { ConfigError } from '@almanac/service-kit/config/config';
import { readConfig } from './config.ts';

const key = Buffer.alloc(32, 1).toString('base64url');
const env = {
  ALMANAC_BUS_URL: 'postgres://localhost/bus',
  ALMANAC_CONTEXT_KEYS: '{"keys":[]}',
  JOBS_CONTEXT_KEY: '{}',
  JOBS_DATABASE_URL: 'postgres://localhost/jobs',
  JOBS_OBJECT_STORE_URL: 'file:///var/lib/almanac',
  JOBS_SIGNING_KEY: key,
};

const problemsOf = (changes: Record<string, string>) => {
  try {
    readConfig({ ...env, ...changes });
    return [];
  } catch (error) {
    return (error as ConfigError).problems;
  }
};

describe('the configuration of jobs', () => {
  it('takes a folder with a signing key, or S3 without one', () => {
    expect(readConfig(env).secrets.signingKey).toHaveLength(32);
    const s3 = 's3://key:secret@127.0.0.1:9000/almanac?tls=false&public_url=https://files.example';
    expect(readConfig({ ...env, JOBS_OBJECT_STORE_URL: s3, JOBS_SIGNING_KEY: '' }).secrets).toEqual({
      databaseUrl: env.JOBS_DATABASE_URL,
      objectStoreUrl: s3,
    });
  });

  it('leaves mails queued, writes them into a folder, or sends them with a sender', () => {
    expect(readConfig(env).secrets.smtpUrl).toBeUndefined();
    expect(readConfig({ ...env, JOBS_SMTP_URL: 'file:///mail' })).toMatchObject({
      mail: { from: { name: 'Almanac', address: 'almanac@localhost' } },
      secrets: { smtpUrl: 'file:///mail' },
    });
    const smtp = { JOBS_SMTP_URL: 'smtp://mail.test', JOBS_MAIL_FROM: 'a@b.test' };
    expect(readConfig({ ...env, ...smtp }).mail.from).toEqual({ name: '', address: 'a@b.test' });
    expect(problemsOf({ JOBS_SMTP_URL: 'smtp://mail.test' })).toEqual([
      'JOBS_MAIL_FROM is missing; it should be the sender of mails: address or Name <address>.',
    ]);
    const hostile = { JOBS_SMTP_URL: 'smtp://u:topsecret@mail.test?tls=none', JOBS_MAIL_FROM: 'a@b.test, c@d.test' };
    expect(problemsOf(hostile)).toEqual([
      'JOBS_SMTP_URL: tls=none would send the password in plain text.',
      'JOBS_MAIL_FROM should be the sender of mails: address or Name <address>.',
    ]);
  });

  it('reads the key and the networks of webhooks, neither of which is needed', () => {
    const webhooks = { JOBS_KEY_ENCRYPTION_KEY: key, JOBS_WEBHOOK_NETWORKS: '10.20.0.0/16, fd00::/8' };
    const config = readConfig({ ...env, ...webhooks });
    expect(config.secrets.keyEncryptionKey).toHaveLength(32);
    expect(config.webhooks.networks.check('10.20.1.1')).toBe(true);
    expect(readConfig(env).webhooks.networks.check('10.20.1.1')).toBe(false);
    expect(problemsOf({ JOBS_KEY_ENCRYPTION_KEY: 'topsecret', JOBS_WEBHOOK_NETWORKS: 'everything' })).toEqual([
      'JOBS_KEY_ENCRYPTION_KEY should be 32 random bytes in base64url.',
      'JOBS_WEBHOOK_NETWORKS should be networks that webhooks may reach: 10.20.0.0/16, fd00::/8.',
    ]);
  });

  it('reports all problems at once, and none of the secrets', () => {
    expect(problemsOf({ JOBS_SIGNING_KEY: '' })).toEqual([
      'JOBS_SIGNING_KEY is missing; it should be the key that signs links to files: 32 or more bytes as base64url.',
    ]);
    const problems = problemsOf({
      JOBS_OBJECT_STORE_URL: 's3://topsecret@127.0.0.1/x',
      JOBS_SIGNING_KEY: 'topsecret',
      JOBS_CONCURRENCY: '0',
    });
    expect(problems).toHaveLength(3);
    expect(problems.join(' ')).not.toContain('topsecret');
  });
});
