// COPY … TO STDOUT as chunks of a useful size, with back pressure from their reader.
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';

// The size of a chunk, and how far a stream reads ahead of a slow reader.
const chunkBytes = 512 * 1024;

export type Copied = { rows: number };

/**
 * Runs COPY statements one after another in the transaction that is open on this connection, yields
 * their bytes in chunks of about half a megabyte, cut anywhere, commits, and returns the number of
 * rows. Throws the error of PostgreSQL or of the connection, or the reason of `signal` when the
 * next bytes come. The connection goes back to its pool; it is closed unless all was read, which
 * ends the statement.
 */
export async function* copyOut(
  client: pg.PoolClient,
  texts: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Buffer, Copied> {
  let isBroken = true;
  try {
    const streams = [];
    let pieces: Buffer[] = [];
    let bytes = 0;
    for (const text of texts) {
      const stream = client.query(copyTo(text, { highWaterMark: chunkBytes }));
      streams.push(stream);
      for await (const piece of stream) {
        signal.throwIfAborted();
        pieces.push(piece);
        bytes += piece.length;
        if (bytes < chunkBytes) continue;
        yield Buffer.concat(pieces);
        [pieces, bytes] = [[], 0];
      }
    }
    if (bytes > 0) yield Buffer.concat(pieces);
    await client.query('commit');
    isBroken = false;
    // A statement reports its rows after its last byte; the next statement waits for that.
    return { rows: streams.reduce((sum, { rowCount }) => sum + rowCount, 0) };
  } finally {
    client.release(isBroken);
  }
}
