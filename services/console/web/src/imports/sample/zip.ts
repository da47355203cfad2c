// Reads parts of packed files: a browser unpacks, and the table of contents of a zip is read here.

export type ZipEntry = { offset: number; packedSize: number; isPacked: boolean };

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const endLength = 22;
const longestComment = 65_535;

/** The entries of a zip file by their names. Throws when it is none, or larger than 4 GB. */
export async function readZip(file: Blob): Promise<Map<string, ZipEntry>> {
  const tail = await view(file, Math.max(0, file.size - endLength - longestComment), file.size);
  const end = findEnd(tail);
  const start = tail.getUint32(end + 16, true);
  const directory = await view(file, start, start + tail.getUint32(end + 12, true));
  const entries = new Map<string, ZipEntry>();
  for (let at = 0; at + 46 <= directory.byteLength && directory.getUint32(at, true) === entrySignature; ) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((place) => directory.getUint16(at + place, true));
    const name = new TextDecoder().decode(new Uint8Array(directory.buffer, at + 46, nameLength));
    entries.set(name, {
      offset: directory.getUint32(at + 42, true),
      packedSize: directory.getUint32(at + 20, true),
      isPacked: directory.getUint16(at + 10, true) !== 0,
    });
    at += 46 + (nameLength ?? 0) + (extraLength ?? 0) + (commentLength ?? 0);
  }
  return entries;
}

/** The text of an entry, or the beginning of it. */
export async function readEntry(file: Blob, entry: ZipEntry, maxBytes: number): Promise<string> {
  const head = await view(file, entry.offset, entry.offset + 30);
  const start = entry.offset + 30 + head.getUint16(26, true) + head.getUint16(28, true);
  const packed = file.slice(start, start + entry.packedSize);
  const bytes = entry.isPacked
    ? await unpackBeginning(packed, 'deflate-raw', maxBytes)
    : new Uint8Array(await packed.slice(0, maxBytes).arrayBuffer());
  return new TextDecoder().decode(bytes);
}

/** The first bytes of what is packed. What follows them is not read. */
export async function unpackBeginning(
  packed: Blob,
  format: CompressionFormat,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = packed.stream().pipeThrough(new DecompressionStream(format)).getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for (let size = 0; size < maxBytes; ) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    size += value.byteLength;
  }
  await reader.cancel().catch(() => {});
  return new Uint8Array(await new Blob(chunks).slice(0, maxBytes).arrayBuffer());
}

async function view(file: Blob, start: number, end: number): Promise<DataView<ArrayBuffer>> {
  return new DataView(await file.slice(start, end).arrayBuffer());
}

function findEnd(tail: DataView): number {
  for (let at = tail.byteLength - endLength; at >= 0; at -= 1) if (tail.getUint32(at, true) === endSignature) return at;
  throw new Error('This is no zip file.');
}
