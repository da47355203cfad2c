// Caches pages that are requested more than once, as bytes, while nothing in their table changes.
// PostgreSQL is asked for the table's last change before each answer, which costs a fraction of the
// page (docs/adr/0020-page-cache.md).
import { LRUCache } from 'lru-cache';
import type { DeployedTable } from '../tables/table.ts';

const maxBytes = 32 * 1_048_576;
const maxPageBytes = 1_048_576;
// What an entry takes besides its page and key.
const entryOverheadBytes = 1_024;
// Longer keys belong to filters that are hardly ever repeated.
const maxKeyLength = 4_096;
// How many keys of pages requested once are kept.
const maxSeenOnce = 4_000;
// How long a table must be at rest before it has cached pages. A clock set back by less is
// harmless.
const restMs = 1_000;
// Bounds what a database clock that is set back, or a database that lost its latest writes, can do:
// a page is read again then.
const ttlMs = 10 * 60_000;

/** The body of an answer. */
export type Body = string | Buffer;

type Page = { body: Buffer; changedAt: number; until: number };
/** Where a page belongs in the cache, and the last change that it shows. */
type Place = { name: string; changedAt: number };

/** `isOutdated`: the table is not what its entry says, so it has no pages. */
export type Found = { body?: Buffer; place?: Place; isOutdated?: true };

type TableEntry = { serial: number; changingUntil: number };

type Options = {
  /**
   * When the table changed last, in milliseconds since 1970 by the database's clock; not older than
   * the call. Undefined when the table is not what its entry says.
   */
  lastChange: (table: DeployedTable) => Promise<number | undefined>;
  /** The latest known high-water mark, in ISO 8601. */
  highWaterMark: { find(): string | undefined };
  /** The monotonic clock of the process, in milliseconds. */
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
   * Looks up the page that `key` stands for. Without a body the caller reads the page, and stores
   * it when there is a `place`. Asks PostgreSQL for the table's last change if the page is a
   * repeat.
   */
  async find(table: DeployedTable, key: string): Promise<Found> {
    const entry = this.entryOf(table);
    const name = `${entry.serial} ${key}`;
    if (name.length > maxKeyLength || !this.isRepeat(name) || this.options.now() < entry.changingUntil) return {};
    const changedAt = await this.options.lastChange(table);
    if (changedAt === undefined) return { isOutdated: true };
    const known = this.pages.get(name);
    if (known?.changedAt === changedAt && this.options.now() < known.until) {
      this.hitCount += 1;
      return { body: known.body };
    }
    // Before the page is read: a change that its statement doesn't see yet is younger than this
    // mark.
    const mark = this.options.highWaterMark.find();
    if (mark !== undefined && changedAt + restMs <= Date.parse(mark)) return { place: { name, changedAt } };
    entry.changingUntil = this.options.now() + restMs;
    return {};
  }

  /** Caches a page that was read after `find` has given it a place. */
  store({ name, changedAt }: Place, body: string): void {
    this.pages.set(name, { body: bytesOf(body), changedAt, until: this.options.now() + ttlMs });
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

  // A page requested once is not cached and needs no query; only its key is kept.
  private isRepeat(name: string): boolean {
    if (this.pages.has(name) || this.seenOnce.has(name)) return true;
    this.seenOnce.set(name, true);
    return false;
  }
}

// A buffer from Node's pool would keep the whole slab of the pool in memory.
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
