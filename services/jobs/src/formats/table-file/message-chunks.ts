// Messages to the data service carry at most this much.
const chunkBytes = 256 * 1024;

/** The bytes in pieces of at most 256 kB; nothing is copied. */
export function* slices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}
