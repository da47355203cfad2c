// TLS to a real PostgreSQL, by the words of PostgreSQL's own URLs.
import { join } from 'node:path';
import { type MountedFiles, mountFiles } from '@almanac/testkit/files/mounted-files';
import { type Certificate, createAuthority } from '@almanac/testkit/network/certificate';
import { type Cluster, startPostgres } from '@almanac/testkit/postgres/postgres';
import { createLogger } from '../observability/logger.ts';
import { createPool } from './database.ts';
import { migrate } from './migrate.ts';

const authority = createAuthority();
let cluster: Cluster;
let files: MountedFiles;

beforeAll(async () => {
  cluster = await startPostgres();
  files = mountFiles({ 'ca.crt': authority.cert, 'other.crt': createAuthority().cert });
});
afterAll(async () => {
  files?.remove();
  await cluster?.stop();
});

const password = 'a-telling-password';

function urlWith(file: string): string {
  const url = new URL(cluster.url);
  url.searchParams.set('sslmode', 'verify-full');
  url.searchParams.set('sslrootcert', files.path(file));
  return url.href;
}

it('connects by TLS to the server that its authority vouches for', async () => {
  await cluster.enableTls(authority.issue());
  const pool = createPool({ url: urlWith('ca.crt'), name: 'tls', logger: createLogger('test', 'silent') });
  const { rows } = await pool.query('select ssl, version from pg_stat_ssl where pid = pg_backend_pid()');
  await pool.end();
  expect(rows).toEqual([{ ssl: true, version: 'TLSv1.3' }]);
});

it('reads the authorities again for each connection', async () => {
  await cluster.enableTls(authority.issue());
  const pool = createPool({ url: urlWith('ca.crt'), name: 'tls', logger: createLogger('test', 'silent') });
  const kept = await pool.connect();
  files.replace({ 'ca.crt': createAuthority().cert, 'other.crt': '' });
  await expect(pool.query('select 1')).rejects.toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
  files.replace({ 'ca.crt': authority.cert, 'other.crt': createAuthority().cert });
  await pool.query('select 1');
  kept.release();
  await pool.end();
});

const refused: [string, string, () => Certificate, string][] = [
  ['another authority', 'other.crt', () => authority.issue(), "Name the file with its authority in the server's URL"],
  [
    'another host',
    'ca.crt',
    () => authority.issue({ names: ['elsewhere'] }),
    'is for other names than the one in its URL',
  ],
  ['a certificate that has ended', 'ca.crt', () => authority.issue({ days: -1 }), 'renew it there'],
];

it.each(refused)('refuses %s, and the log says what to do', async (_name, file, ownOf, advice) => {
  await cluster.enableTls(ownOf());
  const url = new URL(urlWith(file));
  url.password = password;
  const lines: string[] = [];
  const logger = createLogger('test', 'trace', { write: (line) => void lines.push(line) });
  const failed = migrate({ databaseUrl: url.href, directory: join(import.meta.dirname, 'none'), logger });
  const error = await failed.then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  logger.fatal({ err: error }, 'did not start'); // as run.ts does
  expect(lines.join('')).toContain(advice);
  expect(lines.join('')).not.toContain(password);
});
