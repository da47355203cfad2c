// The CA of a server that has a certificate of a private authority: `ca_file=/path` in its URL.
// (For PostgreSQL it is `sslrootcert`, which pg reads.)
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The path in the URL, if any. Throws when the file is unusable; the text doesn't show the URL. */
export function readCaFile(url: URL): string | undefined {
  const path = url.searchParams.get('ca_file');
  if (path === null) return undefined;
  try {
    new X509Certificate(readFileSync(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      `ca_file should name a file with certificates in PEM${code === 'ENOENT' ? ', and is not there' : ''}`,
    );
  }
  return path;
}

/**
 * The certificates in the file. Read them for each new connection, so that an exchanged file counts
 * from the next one on. A missing file trusts no server.
 */
export function readAuthorities(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return noAuthority;
  }
}

// Not an empty text, which would mean the authorities that Node trusts by default.
const noAuthority = '# none';
