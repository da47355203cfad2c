// The size limit of messages to data.
const chunkBytes = 256 * 1024;

/** The bytes in chunks of at most 256 kB, without copying. */
export function* toChunks(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}
