import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'almanac-secrets-'));
const file = join(folder, 'almanac.env');
const made = execFileSync(process.execPath, [join(root, 'deploy/compose-env.js')], { encoding: 'utf8' });
const outer = [
  ...['IDENTITY', 'METADATA', 'DATA', 'JOBS', 'BILLING'].map(
    (name) => `${name}_DATABASE_URL=postgres://u:p@db/${name}?sslmode=verify-full`,
  ),
  ...['ALMANAC_BUS_URL=amqps://u:p@bus', 'JOBS_OBJECT_STORE_URL="s3://K:S@s3.example.com/almanac"', ''],
].join('\n');

function secretsOf(text: string): Record<string, Record<string, string>> {
  writeFileSync(file, text, { mode: 0o600 });
  const { items } = JSON.parse(
    execFileSync(process.execPath, [join(root, 'deploy/k8s/secrets.js'), file], { encoding: 'utf8' }),
  );
  return Object.fromEntries(
    items.map(({ metadata, stringData, data }: Record<string, Record<string, string>>) => [
      metadata?.name,
      stringData ?? data,
    ]),
  );
}

afterAll(() => rmSync(folder, { recursive: true }));

describe('deploy/k8s/secrets.js', () => {
  it('points the services to the servers of the overlay `local`, with the passwords that those get', () => {
    const secrets = secretsOf(made);
    const { hostname, pathname, password } = new URL(secrets['almanac-data']?.DATA_DATABASE_URL as string);
    expect([hostname, pathname]).toEqual(['postgres', '/almanac_data']);
    expect(password).toBe(secrets['almanac-postgres']?.DATA_DATABASE_PASSWORD);
    const bus = new URL(secrets['almanac-gateway']?.ALMANAC_BUS_URL as string);
    expect([bus.hostname, bus.username]).toEqual(['rabbitmq', 'gateway']);
    const { users } = JSON.parse(secrets['almanac-rabbitmq']?.['definitions.json'] as string);
    const known = users.find(({ name }: { name: string }) => name === 'gateway').password_hash;
    const salted = Buffer.from(known, 'base64');
    const hash = createHash('sha256').update(salted.subarray(0, 4)).update(bus.password).digest();
    expect(salted.subarray(4)).toEqual(hash);
    expect(secretsOf(`${made}DATA_BUS_URL=amqps://d:p@bus\n`)['almanac-data']?.ALMANAC_BUS_URL).toBe('amqps://d:p@bus');
    expect(secrets['almanac-jobs']?.JOBS_OBJECT_STORE_URL).toContain(`:${secrets['almanac-objects']?.S3_SECRET_KEY}@`);
  });

  it('points them to servers outside when their addresses are given, and makes no Secret of servers inside', () => {
    const secrets = secretsOf(made + outer);
    expect(secrets['almanac-data']).toEqual({
      ALMANAC_BUS_URL: 'amqps://u:p@bus',
      DATA_DATABASE_URL: 'postgres://u:p@db/DATA?sslmode=verify-full',
      DATA_CONTEXT_KEY: expect.stringContaining('"kid":"data"'),
    });
    expect(secrets['almanac-jobs']?.JOBS_OBJECT_STORE_URL).toBe('s3://K:S@s3.example.com/almanac');
    expect(secrets['almanac-jobs']).not.toHaveProperty('JOBS_SMTP_URL');
    expect(Object.keys(secrets).toSorted()).toEqual(
      ['billing', 'console', 'data', 'gateway', 'identity', 'jobs', 'keys', 'metadata', 'operator'].map(
        (name) => `almanac-${name}`,
      ),
    );
  });

  it('gives each service its own private key and no other, and all public keys', () => {
    for (const [name, secret] of Object.entries(secretsOf(made))) {
      const keys = Object.values(secret).filter((value) => value.startsWith('{"') && value.includes('"d":'));
      expect([name, keys.length]).toEqual([name, /keys|postgres|rabbitmq|objects/.test(name) ? 0 : 1]);
      for (const key of keys) expect(JSON.parse(key).kid).toBe(name.replace('almanac-', ''));
    }
  });

  it('warns of every server outside that is reached without TLS, and of no other', () => {
    const warningsOf = (text: string) => {
      writeFileSync(file, text, { mode: 0o600 });
      const { status, stderr } = spawnSync(process.execPath, [join(root, 'deploy/k8s/secrets.js'), file], {
        encoding: 'utf8',
      });
      return [status, stderr.match(/^\w+(?=: )/gm) ?? []];
    };
    expect(warningsOf(made)).toEqual([0, []]);
    const plain = [
      ...['DATA_DATABASE_URL=postgres://u:p@db/data', 'JOBS_DATABASE_URL=postgres://u:p@db/jobs?sslmode=require'],
      ...['ALMANAC_BUS_URL=amqp://u:p@bus', 'JOBS_OBJECT_STORE_URL="s3://K:S@s3/almanac?tls=false"'],
      ...['JOBS_SMTP_URL=smtp://mail:25?tls=none', ''],
    ];
    expect(warningsOf(made + plain.join('\n'))).toEqual([
      0,
      ['DATA_DATABASE_URL', 'JOBS_DATABASE_URL', 'ALMANAC_BUS_URL', 'JOBS_OBJECT_STORE_URL', 'JOBS_SMTP_URL'],
    ]);
    const secured = [
      ...['DATA_DATABASE_URL=postgres://u:p@db/data?sslmode=verify-full', 'ALMANAC_BUS_URL=amqps://u:p@bus'],
      ...['JOBS_OBJECT_STORE_URL="s3://K:S@s3/almanac"', 'JOBS_SMTP_URL=smtp://mail:587', ''],
    ];
    expect(warningsOf(made + secured.join('\n'))).toEqual([0, []]);
  });

  it('names what the file lacks, and prints nothing', () => {
    writeFileSync(file, made.replace(/^DATA_CONTEXT_KEY=.*\n/m, '').replace(/^IDENTITY_KEY.*\n/m, ''));
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'deploy/k8s/secrets.js'), file], {
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/lacks IDENTITY_KEY_ENCRYPTION_KEY, DATA_CONTEXT_KEY\.\n$/);
  });
});
