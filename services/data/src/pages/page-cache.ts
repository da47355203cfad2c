// Caches pages that are requested more than once, as bytes, while nothing in their table changes.
// PostgreSQL is asked for the table's last change before each answer, which costs a fraction of the
// page (docs/adr/0020-page-cache.md).
import { LRUCache } from 'lru-cache';
import type { Marks } from '../postgres/recent-high-water-mark.ts';
import type { DeployedTable } from '../tables/table.ts';

const maxBytes = 32 * 1_048_576;
const maxPageBytes = 1_048_576;
/** What an entry takes beside its page and key. */
const entryOverheadBytes = 1_024;
/** Longer keys belong to filters that are hardly ever repeated. */
const maxKeyLength = 4_096;
/** How many keys of pages requested once are kept. */
const maxSeenOnce = 4_000;
/** How long a table must be at rest before it has cached pages. A clock set back by less is harmless. */
const restMs = 1_000;
// Bounds what a database clock that is set back, or a database that lost its latest writes, can do:
// a page is read again then.
const ttlMs = 10 * 60_000;

type Page = { body: Buffer; changedAt: number; until: number };
type TableEntry = { serial: number; changingUntil: number };

type Options = {
  /**
   * When the table changed last, in milliseconds since 1970 by the database's clock; not older than
   * the question. Undefined when the table is no longer what its entry says.
   */
  lastChange: (table: DeployedTable) => Promise<number | undefined>;
  marks: Pick<Marks, 'find'>;
  /** The process' own clock, in milliseconds, which never goes back. */
  now?: () => number;
};

export class PageCache {
  private readonly options: Required<Options>;
  private readonly pages = new LRUCache<string, Page>({
    maxSize: maxBytes,
    maxEntrySize: maxPageBytes,
    sizeCalculation: ({ body }, key) => body.length + key.length + entryOverheadBytes,
  });
  private readonly seenOnce = new LRUCache<string, true>({ max: maxSeenOnce });
  // By catalogue entry, so by revision too.
  private readonly entriesByTable = new WeakMap<DeployedTable, TableEntry>();
  private latestSerial = 0;
  private hitCount = 0;

  constructor({ now = () => performance.now(), ...options }: Options) {
    this.options = { now, ...options };
  }

  /** The bytes of all that is cached. */
  get size(): number {
    return this.pages.calculatedSize;
  }

  /** How many pages were answered from the cache so far. */
  get hits(): number {
    return this.hitCount;
  }

  /**
   * The page that `key` stands for, as it is now: cached, or by `read`, which answers undefined when
   * the table is no longer what its entry says; then so does this.
   */
  async find(table: DeployedTable, key: string, read: () => Promise<string | undefined>): Promise<Body | undefined> {
    const entry = this.entryOf(table);
    const name = `${entry.serial} ${key}`;
    if (name.length > maxKeyLength || !this.isRepeat(name) || this.options.now() < entry.changingUntil) return read();
    const changedAt = await this.options.lastChange(table);
    if (changedAt === undefined) return undefined;
    const known = this.pages.get(name);
    if (known?.changedAt === changedAt && this.options.now() < known.until) {
      this.hitCount += 1;
      return known.body;
    }
    // Before the page is read: what its statement doesn't see yet will be younger than this mark.
    const mark = this.options.marks.find();
    const isAtRest = mark !== undefined && changedAt + restMs <= Date.parse(mark);
    if (!isAtRest) entry.changingUntil = this.options.now() + restMs;
    const body = await read();
    if (body !== undefined && isAtRest)
      this.pages.set(name, { body: bytesOf(body), changedAt, until: this.options.now() + ttlMs });
    return body;
  }

  private entryOf(table: DeployedTable): TableEntry {
    let entry = this.entriesByTable.get(table);
    if (!entry) {
      this.latestSerial += 1;
      entry = { serial: this.latestSerial, changingUntil: 0 };
      this.entriesByTable.set(table, entry);
    }
    return entry;
  }

  // A page requested once is neither cached nor worth a question; only its key is kept.
  private isRepeat(name: string): boolean {
    if (this.pages.has(name) || this.seenOnce.has(name)) return true;
    this.seenOnce.set(name, true);
    return false;
  }
}

// A short text would share its memory with whatever else was made then, and keep it.
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
/** A body of an answer. */
export type Body = string | Buffer;
