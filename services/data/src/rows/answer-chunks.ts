// Answers over gRPC: a message has a limit, so the bytes of an answer come as chunks.
const chunkBytes = 512 * 1024;

/** The bytes of a text, as chunks. */
export function answerChunks(text: string): Buffer[] {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, i) =>
    bytes.subarray(i * chunkBytes, (i + 1) * chunkBytes),
  );
}
