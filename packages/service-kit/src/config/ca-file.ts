// The authority of a server that we connect to by TLS, where it isn't one that everybody knows: `ca_file=/path` in the server's URL.
// (PostgreSQL's URLs have their own word for it, `sslrootcert`, which pg reads.)
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The path that the URL names, if any. Throws what is wrong with it, without repeating the URL. */
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
 * What the file holds now. Ask for each new connection, so that a file that was exchanged counts from the next one on. One that is away
 * vouches for nobody.
 */
export function readAuthorities(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return nobody;
  }
}

// Not an empty text, which would stand for the authorities that everybody knows.
const nobody = '# none';
