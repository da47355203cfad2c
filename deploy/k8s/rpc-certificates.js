// Certificates for gRPC and HTTP between the services, for a cluster without cert-manager: makes
// new ones for 90 days and prints the Secrets that components/rpc-tls mounts, each with its
// service's own key:
//   node deploy/k8s/rpc-certificates.js FOLDER | kubectl -n almanac apply -f -
// The first run makes the authority that signs them, authority.crt and authority.key in FOLDER;
// keep the key where you keep secrets. Run it again to renew (every month, say). Needs Node, and
// openssl 3 or newer.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = process.argv[2];
if (!folder) {
  console.error('Usage: node deploy/k8s/rpc-certificates.js FOLDER');
  process.exit(2);
}
// Only here do private keys of services lie in files, and only while this runs.
const work = mkdtempSync(join(tmpdir(), 'almanac-rpc-'));
process.on('exit', () => rmSync(work, { recursive: true }));
const inWork = (name) => join(work, name);
const authority = { key: join(folder, 'authority.key'), certificate: join(folder, 'authority.crt') };

// Not openssl's own settings, which differ between systems.
writeFileSync(inWork('openssl.cnf'), '[req]\ndistinguished_name = name\n[name]\n');

/** A new key and its certificate, as files in the folder of this run. */
function issue(name, days, extensions, ...signer) {
  const made = { key: inWork(`${name}.key`), certificate: inWork(`${name}.crt`) };
  const fresh = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-noenc',
    '-keyout',
    made.key,
    '-out',
    made.certificate,
  ];
  const said = extensions.flatMap((extension) => ['-addext', extension]);
  const words = ['req', '-x509', '-config', inWork('openssl.cnf'), ...fresh, '-days', days, '-subj', `/CN=${name}`];
  execFileSync('openssl', [...words, ...said, ...signer], { stdio: ['ignore', 'ignore', 'pipe'] });
  return made;
}

if (!existsSync(authority.key)) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const made = issue('almanac-rpc', '3650', [
    'basicConstraints=critical,CA:TRUE,pathlen:0',
    'keyUsage=critical,keyCertSign',
  ]);
  writeFileSync(`${authority.key}.new`, readFileSync(made.key), { mode: 0o600 });
  writeFileSync(authority.certificate, readFileSync(made.certificate));
  renameSync(`${authority.key}.new`, authority.key); // last: with the key the authority is there
}

const names = ['gateway', 'identity', 'metadata', 'data', 'jobs', 'billing', 'console', 'operator'];
const items = names.map((name) => {
  const extensions = [
    `subjectAltName=DNS:${name}`,
    'basicConstraints=critical,CA:FALSE',
    'keyUsage=critical,digitalSignature',
    'extendedKeyUsage=serverAuth,clientAuth',
  ];
  const { key, certificate } = issue(name, '90', extensions, '-CA', authority.certificate, '-CAkey', authority.key);
  const labels = { 'app.kubernetes.io/name': name, 'app.kubernetes.io/part-of': 'almanac' };
  return {
    ...{ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls' },
    metadata: { name: `almanac-${name}-rpc`, labels },
    stringData: { 'tls.crt': readFileSync(certificate, 'utf8'), 'tls.key': readFileSync(key, 'utf8') },
  };
});
console.log(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2));
