// Certificates for the TLS servers and clients of a test, made while it runs: the repository holds
// no private key, and nothing expires.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

export type Certificate = { key: string; cert: string };

type IssueOptions = {
  /** Host names and IPv4 addresses it is valid for; the first is its subject. */
  names?: string[];
  /** When it expires, in days from now; negative: it has expired. */
  days?: number;
};

export type Authority = {
  /** The certificate that clients and servers trust. */
  cert: string;
  /**
   * A certificate with its key, for a server or a client; by default for localhost and 127.0.0.1
   * and for 30 days.
   */
  issue(options?: IssueOptions): Certificate;
};

const localNames = ['localhost', '127.0.0.1'];

/** A certificate authority for one test, with a name that no other has. */
export function createAuthority(): Authority {
  const name = `Authority ${randomBytes(4).toString('hex')}`;
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const own = { subject: name, issuer: name, publicKey: keys.publicKey, signer: keys.privateKey };
  return {
    cert: write({ ...own, days: 30, extensions: [isAuthority] }),
    issue: ({ names = localNames, days = 30 } = {}) => {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const subject = names[0] as string;
      const extensions = [alternativeNames(names)];
      return {
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
        cert: write({ subject, issuer: name, publicKey, signer: keys.privateKey, days, extensions }),
      };
    },
  };
}

/** A self-signed certificate for localhost and 127.0.0.1, from yesterday on for 30 days. */
export function createCertificate(): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const names = { subject: 'localhost', issuer: 'localhost' };
  const extensions = [alternativeNames(localNames), isAuthority];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: write({ ...names, publicKey, signer: privateKey, days: 30, extensions }),
  };
}

type Fields = {
  subject: string;
  issuer: string;
  publicKey: KeyObject;
  signer: KeyObject;
  days: number;
  extensions: Buffer[];
};

// RFC 5280, 4.1.
function write({ subject, issuer, publicKey, signer, days, extensions }: Fields): string {
  const algorithm = sequence(oid('2a8648ce3d040302')); // ecdsa-with-SHA256
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    commonName(issuer),
    sequence(time(Math.min(-1, days - 1)), time(days)),
    commonName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', body, signer);
  const whole = sequence(body, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts));
const set = (...parts: Buffer[]) => der(0x31, Buffer.concat(parts));
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const extension = (id: string, value: Buffer) => sequence(oid(id), der(0x04, value));
const commonName = (text: string) => sequence(set(sequence(oid('550403'), der(0x0c, Buffer.from(text)))));
const isAuthority = extension('551d13', sequence(der(0x01, Buffer.from([0xff]))));

function alternativeNames(names: string[]): Buffer {
  const entries = names.map((name) =>
    isIPv4(name) ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name)),
  );
  return extension('551d11', sequence(...entries));
}

// UTCTime, valid until 2049.
function time(days: number): Buffer {
  const text = new Date(Date.now() + days * 86_400_000).toISOString().replace(/[-:T]|\.\d+/g, '');
  return der(0x17, Buffer.from(text.slice(2)));
}
