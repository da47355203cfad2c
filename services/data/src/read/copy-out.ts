// COPY … TO STDOUT as chunks of a useful size, in step with whoever takes them.
import type pg from 'pg';
import { CopyQuery, startCopy } from './copy-query.ts';

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
    const query = startCopy(client, new CopyQuery(text, chunkBytes));
    for await (const chunk of query.chunks()) {
      signal.throwIfAborted();
      yield chunk;
    }
    await after();
    broken = false;
    return { rows: query.rows };
  } finally {
    client.release(broken);
  }
}
