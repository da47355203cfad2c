// COPY … TO STDOUT as chunks of a useful size, in step with whoever takes them.
import type pg from 'pg';
import { CopyQuery, startCopy } from './copy-query.ts';

const chunkBytes = 512 * 1024;
/** What one statement may have ready while the rows of another are taken. */
const chunksAhead = 8;

export type Copied = { rows: number };

/**
 * Runs COPY statements on these connections, on each the next one as soon as it is free, and gives their bytes one statement after the
 * other. At the end all connections are given back, whatever happens; those that are still sending are thrown away. `after` runs on each when all
 * is read, before that (the end of a transaction).
 */
export async function* copyOut(
  clients: readonly pg.PoolClient[],
  texts: readonly string[],
  signal: AbortSignal,
  after?: string,
): AsyncGenerator<Buffer, Copied> {
  let broken = true;
  try {
    const running = new Map<number, CopyQuery>();
    const start = (index: number) => {
      const [client, text] = [clients[index % clients.length], texts[index]];
      if (client && text !== undefined)
        running.set(index, startCopy(client, new CopyQuery(text, chunkBytes, chunksAhead)));
    };
    let rows = 0;
    for (const index of clients.keys()) start(index);
    for (const index of texts.keys()) {
      const query = running.get(index) as CopyQuery;
      for await (const chunk of query.chunks()) {
        signal.throwIfAborted();
        yield chunk;
      }
      running.delete(index);
      rows += query.rows;
      start(index + clients.length);
    }
    if (after !== undefined) await Promise.all(clients.map((client) => client.query(after)));
    broken = false;
    return { rows };
  } finally {
    for (const client of clients) client.release(broken);
  }
}
