// COPY … TO STDOUT as chunks of a useful size, in step with whoever takes them.
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';

const chunkBytes = 512 * 1024;

export type Copied = { rows: number };

/**
 * Runs a COPY on a connection and gives the connection back, whatever happens; one that is still sending is thrown away. `after`
 * runs when all is read, before that (the end of a transaction).
 */
export async function* copyOut(
  client: pg.PoolClient,
  text: string,
  signal: AbortSignal,
  after: () => Promise<unknown> = async () => {},
): AsyncGenerator<Buffer, Copied> {
  let broken = true;
  try {
    const stream = client.query(copyTo(text, { highWaterMark: chunkBytes }));
    let parts: Buffer[] = [];
    let size = 0;
    for await (const part of stream) {
      signal.throwIfAborted();
      parts.push(part as Buffer);
      size += (part as Buffer).length;
      if (size < chunkBytes) continue;
      yield parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, size);
      parts = [];
      size = 0;
    }
    if (size > 0) yield Buffer.concat(parts, size);
    await after();
    broken = false;
    return { rows: stream.rowCount };
  } finally {
    client.release(broken);
  }
}
