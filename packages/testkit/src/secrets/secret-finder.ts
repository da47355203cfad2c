// Finds secrets in logs: known ones in every encoding, and texts with the shape of a secret.

export type Secret = { kind: string; value: string };

/** A found secret; `text` is its line without the secret. */
export type Leak = { kind: string; line: number; text: string };

/** Shorter values occur in logs by chance. */
export const shortestSecret = 12;

// Texts that look like a secret, whether a test has seen them or not.
const shapes: [string, RegExp][] = [
  ['a JSON Web Token', /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/g],
  ['a password in a URL', /\w:\/\/[^\s/@:"\\]*:(?!\[redacted\])[^\s/@"\\]+@/g],
  ['a hash of a password', /\$argon2\w*\$[^\s"\\]+/g],
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----|"d":"[\w-]{20,}"/g],
];

/** The encodings from which a reader of a log gets the value. */
export function formsOf(value: string): string[] {
  // A token is found by its signature: the rest is no token without it.
  const [, , signature] = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(value) ? value.split('.') : [];
  if (signature !== undefined) return [signature];
  const bytes = Buffer.from(value);
  const forms = [
    value,
    encodeURIComponent(value),
    new URLSearchParams({ '': value }).toString().slice(1),
    JSON.stringify(value).slice(1, -1),
    value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
  return [...new Set(forms)];
}

/** Makes a search for all of these secrets, in one pass over a text. */
export function createFinder(secrets: Iterable<Secret>): (text: string | Buffer) => Leak[] {
  const byFirstBytes = new Map<number, { kind: string; bytes: Buffer }[]>();
  const known = new Set<string>();
  for (const { kind, value } of secrets) {
    if (value.length < shortestSecret) continue;
    for (const form of formsOf(value)) {
      if (known.has(form)) continue;
      known.add(form);
      const bytes = Buffer.from(form);
      const start = bytes.readInt32LE(0);
      byFirstBytes.set(start, [...(byFirstBytes.get(start) ?? []), { kind, bytes }]);
    }
  }
  const firstBytes = new Uint8Array(256);
  for (const list of byFirstBytes.values()) for (const { bytes } of list) firstBytes[bytes[0] as number] = 1;

  return (text) => {
    const bytes = Buffer.isBuffer(text) ? text : Buffer.from(text);
    const found: (Leak & { at: number })[] = [];
    for (let at = 0; at + shortestSecret <= bytes.length; at++) {
      if (firstBytes[bytes[at] as number] === 0) continue;
      for (const candidate of byFirstBytes.get(bytes.readInt32LE(at)) ?? [])
        if (candidate.bytes.equals(bytes.subarray(at, at + candidate.bytes.length)))
          found.push(leakAt(bytes, at, candidate.bytes.length, candidate.kind));
    }
    const latin = bytes.toString('latin1'); // one character a byte, so that offsets agree
    for (const [kind, shape] of shapes)
      for (const match of latin.matchAll(shape)) found.push(leakAt(bytes, match.index, match[0].length, kind));
    return found.sort((a, b) => a.at - b.at).map(({ at: _at, ...leak }) => leak);
  };
}

const shownAround = 150;

function leakAt(bytes: Buffer, at: number, length: number, kind: string): Leak & { at: number } {
  const lineStart = bytes.lastIndexOf(10, at) + 1;
  const lineEnd = bytes.indexOf(10, at) === -1 ? bytes.length : bytes.indexOf(10, at);
  const before = bytes.subarray(Math.max(lineStart, at - shownAround), at);
  const after = bytes.subarray(Math.min(lineEnd, at + length), Math.min(lineEnd, at + length + shownAround));
  let line = 1;
  for (let next = bytes.indexOf(10); next !== -1 && next < at; next = bytes.indexOf(10, next + 1)) line += 1;
  return { at, kind, line, text: `${before}[here]${after}` };
}

/**
 * The leaks as text, empty without any. Leaks of one kind in one place are one entry, with their
 * number.
 */
export function describeLeaks(leaks: (Leak & { place: string })[]): string {
  const groups = Map.groupBy(leaks, ({ kind, place }) => `${place}: ${kind}`);
  return [...groups]
    .map(([title, [first, ...rest]]) => {
      const more = rest.length > 0 ? ` and ${rest.length} more` : '';
      return `  ${title}, line ${first?.line}${more}\n      ${first?.text}`;
    })
    .join('\n');
}
