// Turns the bytes of a stored file into checked UTF-8: unpacks gzip, reads a byte order mark,
// recodes UTF-16 and Windows-1252. Bytes that are UTF-8 already pass unchanged; memory stays flat.
import { isAscii, isUtf8 } from 'node:buffer';
import { fileError, quoted } from './file-error.ts';
import { detectUtf16, isGzip, isZip } from './file-format.ts';
import { gunzip, type UnpackLimits, unpackLimits } from './gunzip.ts';
import { decodeWindows1252 } from './windows-1252.ts';

export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
export type Encoding = (typeof encodings)[number];

/**
 * The text as UTF-8 without a byte order mark. `stated` is the known encoding; else it is detected.
 * A file that is not text is a file error.
 */
export async function* textBytes(
  source: AsyncIterable<Uint8Array>,
  stated?: Encoding,
  allowed: UnpackLimits = unpackLimits,
): AsyncGenerator<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  try {
    const file = await peek({ [Symbol.asyncIterator]: () => iterator }, 4);
    const unpacked = isGzip(file.head) ? await peek(gunzip(file.bytes, allowed), 4) : file;
    const { head, bytes } = unpacked;
    if (isGzip(head)) throw fileError('The file is packed by gzip more than once; pack it once.');
    if (isZip(head)) throw fileError('The file is a ZIP archive (or a workbook), not text.');
    const encoding = stated ?? detectUtf16(head);
    if (encoding === 'utf-16le' || encoding === 'utf-16be') yield* recode(bytes, encoding);
    else if (encoding === 'windows-1252') yield* fromWindows1252(bytes);
    else {
      const mark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
      yield* checkUtf8(bytes, mark ? 3 : 0, encoding === 'utf-8' || mark ? 'utf-8' : 'ascii');
    }
  } finally {
    await iterator.return?.(); // also if no reader in between has started
  }
}

type Peeked = { head: Uint8Array; bytes: AsyncGenerator<Uint8Array> };

// The first bytes, and a stream that still contains them.
async function peek(source: AsyncIterable<Uint8Array>, length: number): Promise<Peeked> {
  const iterator = source[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  let done = false;
  while (head.length < length && !done) {
    const next = await iterator.next();
    if (next.done) done = true;
    else head = Buffer.concat([head, next.value]);
  }
  async function* bytes() {
    try {
      if (head.length > 0) yield head;
      while (!done) {
        const next = await iterator.next();
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  return { head, bytes: bytes() };
}

async function* recode(source: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const decode = (chunk?: Uint8Array) => {
    try {
      return Buffer.from(chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode(), 'utf8');
    } catch (cause) {
      throw fileError('The file begins or is stated as UTF-16, but is not valid UTF-16.', cause);
    }
  };
  for await (const chunk of source) yield requireNoNul(decode(chunk));
  yield decode();
}

async function* fromWindows1252(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let at = 0;
  for await (const chunk of source) {
    yield requireNoNul(decodeWindows1252(chunk, at));
    at += chunk.length;
  }
}

// Checked in whole chunks by native code; a character cut by the end of a chunk waits for the next.
// The first byte beyond ASCII decides: if it does not start a UTF-8 character, the file is
// Windows-1252 and must look like it to its end.
async function* checkUtf8(
  source: AsyncIterable<Uint8Array>,
  skip: number,
  begun: 'ascii' | 'utf-8',
): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array(0);
  let toSkip = skip;
  let at = 0;
  let known: 'ascii' | 'utf-8' | 'windows-1252' = begun;
  let decidedBy = 0;
  for await (const chunk of source) {
    const joined = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole: number = joined.length - incompleteBytes(joined);
    const ready: Uint8Array = joined.subarray(0, whole);
    rest = joined.subarray(whole);
    if (known === 'ascii' && !isAscii(ready)) {
      const first = ready.findIndex((byte) => byte >= 0x80);
      decidedBy = at + first;
      known = beginsUtf8(ready, first) ? 'utf-8' : 'windows-1252';
    }
    if (known === 'utf-8' && !isUtf8(ready)) throw notUtf8(at);
    if (known === 'windows-1252') rejectMixedEncodings(ready, at, decidedBy);
    const text = known === 'windows-1252' ? decodeWindows1252(ready, at) : ready.subarray(toSkip);
    at += ready.length;
    yield requireNoNul(text);
    toSkip = 0;
  }
  if (rest.length === 0) return;
  if (known === 'utf-8') throw notUtf8(at);
  yield decodeWindows1252(rest, at);
}

function beginsUtf8(bytes: Uint8Array, first: number): boolean {
  const lead = bytes[first] as number;
  return isUtf8(bytes.subarray(first, first + (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2)));
}

// The byte pattern of one UTF-8 character beyond ASCII.
const utf8Form = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/g;
// Byte sequences that are plausible Windows-1252 as well: a letter and what ends words (… ‹ ‘ ’ “ ”
// • – — ™ › « ® », a no-break space, a soft hyphen), or × Ø before ¼ ½ ¾. Not after Â and Ã, which
// start all Latin-1 characters in UTF-8.
const windowsForm = /^(?:[^\xc2\xc3][\x85\x8b\x91-\x97\x99\x9b\xa0\xab\xad\xae\xbb]+|[\xd7\xd8][\xbc-\xbe])$/;

// One broken character must not corrupt all others of a UTF-8 file. Positions count from 0.
function rejectMixedEncodings(bytes: Uint8Array, at: number, decidedBy: number): void {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  for (const { 0: form, index } of text.matchAll(utf8Form)) {
    const character = Buffer.from(form, 'latin1');
    if (windowsForm.test(form) || !isUtf8(character)) continue;
    throw fileError(
      `The file mixes encodings: byte ${decidedBy + 1} is no UTF-8, but from byte ${at + index + 1} on stands ${quoted(character.toString())} in UTF-8. Mend it, or say in the mapping which encoding it has.`,
    );
  }
}

const notUtf8 = (at: number) =>
  fileError(
    `The file is not valid UTF-8 (shortly after byte ${at}); save it as UTF-8, or as UTF-16 with a byte order mark.`,
  );

function requireNoNul(chunk: Uint8Array): Uint8Array {
  if (chunk.includes(0)) throw fileError('The file holds the character U+0000, which no text may hold.');
  return chunk;
}

/** The number of bytes at the end that start an incomplete character. */
function incompleteBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}
