// Mutual TLS between services, for gRPC and HTTP: both sides have a certificate of an authority
// that the other trusts. The files are read every second and compared by content, since a mount may
// exchange a link instead of writing a file. Unusable files are logged, and the previous ones stay
// in use.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { PeerCertificate, SecureContextOptions } from 'node:tls';
import { ConfigError, type RpcTlsFiles, rpcTlsVariables } from '../config/config.ts';
import type { Logger } from '../observability/logger.ts';

export type ServiceTls = {
  /** The current certificates, for TLS 1.2 or newer. */
  secureContext(): SecureContextOptions & { cert: Buffer; key: Buffer; ca: Buffer };
  /** Calls the listener each time after new files were accepted. */
  onChange(listener: () => void): void;
  /** Calls the listener, after those of `onChange`, when an authority was removed from the file. */
  onWithdrawal(listener: () => void): void;
  /** The expiry of this service's certificate, in seconds since 1970. */
  expiresAt(): number;
  /** Stops reading the files; the current certificates stay in use. */
  stop(): void;
};

const readEveryMs = 1_000;

/** Reads the files and watches them from now on. Throws ConfigError when they are unusable. */
export function watchServiceTls(files: RpcTlsFiles, logger: Logger): ServiceTls {
  let read = readNow(files);
  let current = validate(read);
  const changes: (() => void)[] = [];
  const withdrawals: (() => void)[] = [];

  const look = async () => {
    const found = await readAgain(files);
    if (isSame(found, read)) return;
    read = found; // a problem is logged once
    try {
      const previous = current;
      current = validate(found);
      logger.info({ expires_at: current.expiresAt }, 'the certificate, or whom it trusts, has changed');
      for (const notify of changes) notify();
      if (previous.authorities.some((each) => !current.authorities.includes(each)))
        for (const notify of withdrawals) notify();
    } catch (error) {
      logger.error({ err: error }, 'the new certificate can not be used; the previous one stays in use');
    }
  };
  let looking = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    void look().finally(() => {
      looking = false;
    });
  }, readEveryMs);
  timer.unref();

  return {
    secureContext: () => ({ cert: current.cert, key: current.key, ca: current.ca, minVersion: 'TLSv1.2' }),
    onChange: (listener) => void changes.push(listener),
    onWithdrawal: (listener) => void withdrawals.push(listener),
    expiresAt: () => current.expiresAt.getTime() / 1000,
    stop: () => clearInterval(timer),
  };
}

/**
 * True when a DNS name of the certificate is `name`, the name of a service or of the operator, or
 * begins with it and a dot (`jobs.almanac.svc`).
 */
export function isCertificateOf(name: string, certificate: PeerCertificate | undefined): boolean {
  const names = certificate?.subjectaltname?.split(', ') ?? [];
  return names.some((entry) => entry === `DNS:${name}` || entry.startsWith(`DNS:${name}.`));
}

type Part = keyof RpcTlsFiles;
type Read = Record<Part, Buffer | Error>;
type Material = Record<Part, Buffer> & { authorities: string[]; expiresAt: Date };

const parts = ['cert', 'key', 'ca'] as const;

function readNow(files: RpcTlsFiles): Read {
  const read = (part: Part): Buffer | Error => {
    try {
      return readFileSync(files[part]);
    } catch (error) {
      return error as Error;
    }
  };
  return { cert: read('cert'), key: read('key'), ca: read('ca') };
}

async function readAgain(files: RpcTlsFiles): Promise<Read> {
  const [cert, key, ca] = await Promise.all(parts.map((part) => readFile(files[part]).catch((error: Error) => error)));
  return { cert, key, ca } as Read;
}

function isSame(one: Read, other: Read): boolean {
  return parts.every((part) => {
    const [a, b] = [one[part], other[part]];
    return Buffer.isBuffer(a) && Buffer.isBuffer(b) ? a.equals(b) : String(a) === String(b);
  });
}

// Checks everything here, so that a later handshake can fail only for a reason of the other side.
function validate(read: Read): Material {
  const problems: string[] = [];
  const attempt = <T>(part: Part, what: string, parse: (bytes: Buffer) => T): T | undefined => {
    const bytes = read[part];
    try {
      if (Buffer.isBuffer(bytes)) return parse(bytes);
      problems.push(`${rpcTlsVariables[part]}: the file can't be read (${(bytes as NodeJS.ErrnoException).code}).`);
    } catch {
      problems.push(`${rpcTlsVariables[part]}: the file should hold ${what}.`);
    }
  };
  const cert = attempt('cert', 'a certificate in PEM, followed by those between it and its authority', (bytes) => ({
    bytes,
    own: new X509Certificate(bytes),
  }));
  const key = attempt('key', 'the private key of the certificate in PEM, without a password', (bytes) => ({
    bytes,
    own: createPrivateKey(bytes),
  }));
  const ca = attempt('ca', "the authorities' certificates in PEM, one or more", (bytes) => ({
    bytes,
    authorities: fingerprints(bytes),
  }));
  if (cert && key && !cert.own.checkPrivateKey(key.own))
    problems.push(`${rpcTlsVariables.key}: the key is not the one of the certificate; exchange both files at once.`);
  if (cert && cert.own.validToDate.getTime() < Date.now())
    problems.push(`${rpcTlsVariables.cert}: the certificate has expired (${cert.own.validTo}); renew it.`);
  if (!cert || !key || !ca || problems.length > 0) throw new ConfigError(problems);
  return {
    cert: cert.bytes,
    key: key.bytes,
    ca: ca.bytes,
    authorities: ca.authorities,
    expiresAt: cert.own.validToDate,
  };
}

function fingerprints(bundle: Buffer): string[] {
  const blocks = bundle.toString('latin1').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (!blocks) throw new Error('no certificate');
  return blocks.map((block) => new X509Certificate(block).fingerprint256);
}
