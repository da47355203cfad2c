// Copies of a table in SQLite that are made of its change feed alone: by key and by svc_sk from the
// net changes, and by svc_sk from each version.
import type { Client, Change as Fed } from '@almanac/client';
import type { Change } from './changes-file.ts';
import { type Copy, createCopyByKey, createCopyBySk, createCopyOfVersions } from './sqlite-copy.ts';

type Table = { table_definition_id: number };
type Feed = { name: string; versions: 'net' | 'all'; copy: Copy; cursor: string };

const page = { limit: 50, everyMs: 100 };

/** Follows the feeds until `signal`, through any interruption; each goes on where its copy is. */
export class CopiesOfFeeds {
  private readonly client: Client;
  private readonly of: Table;
  private readonly feeds: Feed[];

  private constructor(client: Client, of: Table, feeds: Feed[]) {
    this.client = client;
    this.of = of;
    this.feeds = feeds;
  }

  /** Copies of a table that has no rows yet. */
  static async begin(client: Client, of: Table): Promise<CopiesOfFeeds> {
    const cursor = await cursorOfNow(client, of);
    return new CopiesOfFeeds(client, of, [
      { name: 'by key', versions: 'net', copy: await createCopyByKey(), cursor },
      { name: 'by svc_sk', versions: 'net', copy: await createCopyBySk(), cursor },
      { name: 'of all versions', versions: 'all', copy: await createCopyOfVersions(), cursor },
    ]);
  }

  async follow(signal: AbortSignal): Promise<void> {
    await Promise.all(
      this.feeds.map(async (feed) => {
        const { versions, cursor } = feed;
        const pages = this.client.changes({ ...this.of, versions }, { ...page, after: cursor, signal });
        try {
          for await (const { data, cursor: next } of pages) {
            for (const change of data) feed.copy.apply(toApply(change));
            feed.cursor = next;
          }
        } catch (error) {
          if (!signal.aborted) throw error;
        }
      }),
    );
  }

  /** The rows of each copy, by its name. */
  rows(): Record<string, Record<string, unknown>[]> {
    return Object.fromEntries(this.feeds.map(({ name, copy }) => [name, copy.rows()]));
  }

  close(): void {
    for (const { copy } of this.feeds) copy.close();
  }
}

async function cursorOfNow(client: Client, of: Table): Promise<string> {
  for await (const { cursor } of client.changes(of)) return cursor;
  throw new Error('A feed does not end.');
}

// The key of a change, and not that of its record, is what it is about.
const toApply = ({ change, svc_sk, key, record }: Fed): Change => ({
  code: change,
  sk: svc_sk,
  isDeleted: change === 'deleted',
  values: { ...record, ...key },
});
