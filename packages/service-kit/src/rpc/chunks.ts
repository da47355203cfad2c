/** The bytes of an answer that comes as a stream of chunks. */
export async function gatherChunks(chunks: AsyncIterable<{ chunk: Uint8Array | string }>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const { chunk } of chunks) parts.push(chunk as Buffer);
  return Buffer.concat(parts);
}
