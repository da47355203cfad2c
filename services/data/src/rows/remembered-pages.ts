// Pages that are asked for again and again, kept as they were sent for as long as nothing in their table changes. Whether something has is
// asked of PostgreSQL for every answer, which costs a fraction of the page (docs/adr/0020-remembered-pages.md).
import { LRUCache } from 'lru-cache';
import type { DeployedTable } from '../catalogue/structure.ts';
import type { Marks } from '../counting/marks.ts';
import type { LastChange } from './last-change.ts';
import type { Body } from './read-page.ts';

const bytesOfAll = 32 * 1_048_576;
const bytesOfOne = 1_048_576;
/** What keeping a page takes besides. */
const bytesBeside = 1_024;
/** Longer ones belong to filters that nobody types twice. */
const keyLength = 4_096;
/** So many different pages later, one that was asked for once counts as new. */
const firstsRemembered = 4_000;
/** A table must have been at rest for so long; a clock that is set back by less does no harm. */
const restMs = 1_000;
/** From here on that is noticed. Answers that take their time look the same: they cost what was remembered, until one is quick again. */
const setBackMs = 500;
// Pages are read anew now and then, and none is kept for so long after the clock was set back: whoever was writing then may bear a time
// that looks settled. It also ends what a database that lost its latest writes has left here.
const rememberedMs = 10 * 60_000;

type Page = { body: Buffer; changedAt: number; until: number };
type Place = { serial: number; changingUntil: number };

type Options = {
  /** When the table changed last; not older than the question. Undefined when it is no longer what its entry says. */
  lastChange: (table: DeployedTable) => Promise<LastChange | undefined>;
  marks: Pick<Marks, 'find'>;
  /** Called when the database's clock was set back: whatever else goes by it is to be forgotten, too. */
  whenSetBack: () => void;
  /** The process' own clock, in milliseconds, which never goes back. */
  now?: () => number;
};

export class RememberedPages {
  private readonly options: Required<Options>;
  private readonly pages = new LRUCache<string, Page>({
    maxSize: bytesOfAll,
    maxEntrySize: bytesOfOne,
    sizeCalculation: ({ body }, key) => body.length + key.length + bytesBeside,
  });
  private readonly firsts = new LRUCache<string, true>({ max: firstsRemembered });
  // By entry, so by revision too.
  private readonly places = new WeakMap<DeployedTable, Place>();
  private latestSerial = 0;
  private clockAhead = Number.NEGATIVE_INFINITY;
  private setBackAt: number | undefined;
  private timesSetBack = 0;
  private answered = 0;

  constructor({ now = () => performance.now(), ...options }: Options) {
    this.options = { now, ...options };
  }

  /** How many bytes are kept. */
  get size(): number {
    return this.pages.calculatedSize;
  }

  /** How many pages were answered from memory so far. */
  get answers(): number {
    return this.answered;
  }

  /**
   * The page that `key` stands for, as it is now: from memory, or by `read`, which answers undefined when the table is no longer what
   * its entry says; then so does this.
   */
  async find(table: DeployedTable, key: string, read: () => Promise<string | undefined>): Promise<Body | undefined> {
    const place = this.placeOf(table);
    const name = `${place.serial} ${key}`;
    if (name.length > keyLength || !this.comesAgain(name) || this.options.now() < place.changingUntil) return read();
    const last = await this.options.lastChange(table);
    if (!last) return undefined;
    if (!this.trustsClock(last.now)) return read();
    const known = this.pages.get(name);
    if (known?.changedAt === last.at && this.options.now() < known.until) {
      this.answered += 1;
      return known.body;
    }
    // Before the page is read: what its statement doesn't see yet will be younger than this mark.
    const mark = this.options.marks.find();
    const isAtRest = mark !== undefined && last.at + restMs <= Math.min(Date.parse(mark), last.now);
    if (!isAtRest) place.changingUntil = this.options.now() + restMs;
    const { timesSetBack } = this;
    const body = await read();
    if (body !== undefined && isAtRest && timesSetBack === this.timesSetBack)
      this.pages.set(name, { body: bytesOf(body), changedAt: last.at, until: this.options.now() + rememberedMs });
    return body;
  }

  private placeOf(table: DeployedTable): Place {
    let place = this.places.get(table);
    if (!place) {
      this.latestSerial += 1;
      place = { serial: this.latestSerial, changingUntil: 0 };
      this.places.set(table, place);
    }
    return place;
  }

  // What is asked for once is not worth a question, nor its place.
  private comesAgain(name: string): boolean {
    if (this.pages.has(name) || this.firsts.has(name)) return true;
    this.firsts.set(name, true);
    return false;
  }

  // After the database's clock was set back, a change may bear the time of what is known already.
  private trustsClock(now: number): boolean {
    const own = this.options.now();
    const ahead = now - own;
    const isOver = this.setBackAt !== undefined && own - this.setBackAt >= rememberedMs;
    if (isOver || ahead >= this.clockAhead - setBackMs) {
      this.clockAhead = isOver ? ahead : Math.max(this.clockAhead, ahead);
      this.setBackAt = undefined;
      return true;
    }
    if (this.setBackAt === undefined) {
      this.setBackAt = own;
      this.timesSetBack += 1;
      this.pages.clear();
      this.options.whenSetBack();
    }
    return false;
  }
}

// A short text would share its memory with whatever else was made then, and keep it.
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
