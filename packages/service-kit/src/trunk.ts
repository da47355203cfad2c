// Many connections over one: a trunk is a TCP connection between the gateway and a service, a strand is what both sides use as if it were a
// connection of its own, HTTP and all (docs/adr/0019-trunks.md). What is written to all strands in one turn of the event loop leaves in one
// write and wakes the other side once.
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type Frame, FrameReader, FrameWriter, frameTypes, mostInFrame } from './trunk-frames.ts';

/** What a side sends of a strand before the other side has taken it up; so much may lie in memory for each. */
export const windowBytes = 262_144;
/** Who opens one more is cut off. */
const mostStrands = 16_384;
const lastId = 0xffff_ffff;
const aliveMs = 10_000; // how soon a dead peer is asked after

type Held = { bytes: Buffer; done: (error?: Error | null) => void };

/** One of the connections: as good as a socket for Node's HTTP server and for undici. */
export class Strand extends Duplex {
  readonly id: number;
  private readonly trunk: Trunk;
  private window = windowBytes;
  /** Received, and not yet made good to the other side. */
  private owed = 0;
  private held: Held | undefined;
  /** Whether the other side has said that this is all. */
  private isWhole = false;

  /** For a trunk to make. */
  constructor(trunk: Trunk, id: number) {
    super({ decodeStrings: false });
    this.trunk = trunk;
    this.id = id;
  }

  get remoteAddress(): string | undefined {
    return this.trunk.remoteAddress;
  }

  // A trunk keeps its process alive, whatever is said of its strands.
  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {
    if (this.owed < windowBytes / 2) return;
    this.trunk.send(frameTypes.credit, this.id, this.owed);
    this.owed = 0;
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: Held['done']): void {
    const length = typeof chunk === 'string' ? Buffer.byteLength(chunk, encoding) : chunk.length;
    if (length <= this.window && length <= mostInFrame && !this.trunk.isFull) {
      this.window -= length;
      this.trunk.send(frameTypes.data, this.id, chunk, encoding);
      done();
      return;
    }
    this.held = { bytes: typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk, done };
    this.goOn();
  }

  override _final(done: (error?: Error | null) => void): void {
    this.trunk.send(frameTypes.end, this.id);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.held = undefined;
    this.trunk.forget(this, this.isWhole && this.writableFinished);
    done(error);
  }

  /** Sends of what is held as much as the window and the trunk take. */
  goOn(): void {
    const { held } = this;
    if (!held) return;
    while (held.bytes.length > 0 && this.window > 0 && !this.trunk.isFull) {
      const part = held.bytes.subarray(0, Math.min(this.window, mostInFrame));
      held.bytes = held.bytes.subarray(part.length);
      this.window -= part.length;
      this.trunk.send(frameTypes.data, this.id, part);
    }
    if (held.bytes.length > 0) return;
    this.held = undefined;
    held.done();
  }

  /** For its trunk: the other side has gone. Who asks still reads what came before, as from a socket; who answers has nobody to answer. */
  lost(): void {
    if (this.readableLength === 0 || this.trunk.isAnswering) {
      this.destroy();
      return;
    }
    this.once('end', () => this.destroy());
    if (!this.isWhole) this.push(null);
    this.isWhole = true;
  }

  /** A frame of the other side's; false when it breaks the rules. */
  receive({ type, payload }: Frame): boolean {
    if (type === frameTypes.data) {
      this.owed += payload.length;
      if (this.isWhole || this.owed > windowBytes) return false;
      // What waits is copied out of what came with it, which may be much more.
      this.push(this.readableLength > 0 ? Buffer.from(payload) : payload);
    } else if (type === frameTypes.credit) {
      if (payload.length !== 4) return false;
      this.window += payload.readUInt32LE();
      if (this.window > windowBytes) return false;
      this.goOn();
    } else if (type === frameTypes.end) {
      this.isWhole = true;
      this.push(null);
    } else if (type === frameTypes.reset) this.lost();
    else return false;
    return true;
  }
}

/** The side of a trunk that takes strands is told of each; the other side opens them. */
type OnStrand = (strand: Strand) => void;

export class Trunk {
  private readonly socket: Socket;
  private readonly onStrand: OnStrand | undefined;
  private readonly strands = new Map<number, Strand>();
  private readonly reader = new FrameReader();
  private readonly writer: FrameWriter;
  private latest = 0;
  private isEnding = false;
  /** Whether the other side takes no more strands. */
  private isLeft = false;
  private heardAt = performance.now();
  private pingedAt: number | undefined;

  /** Over a connection on which both sides have agreed on it; `head` is what has come already. */
  constructor(socket: Socket, head: Buffer, onStrand?: OnStrand) {
    this.socket = socket;
    this.onStrand = onStrand;
    this.writer = new FrameWriter(socket);
    socket.setTimeout(0).setNoDelay(true).setKeepAlive(true, aliveMs);
    socket.on('data', (bytes) => this.read(bytes));
    socket.on('drain', () => this.eachStrand((strand) => strand.goOn()));
    socket.on('end', () => socket.destroy());
    socket.on('error', () => undefined); // `close` follows
    socket.on('close', () => this.eachStrand((strand) => strand.lost()));
    if (head.length > 0) this.read(head);
  }

  get remoteAddress(): string | undefined {
    return this.socket.remoteAddress;
  }

  /** Whether strands can be opened. */
  get isUsable(): boolean {
    return !this.socket.destroyed && !this.isEnding && !this.isLeft && this.latest < lastId;
  }

  /** Whether more waits to be sent than is good. */
  get isFull(): boolean {
    return this.socket.writableNeedDrain;
  }

  /** Whether this is the side that takes strands. */
  get isAnswering(): boolean {
    return this.onStrand !== undefined;
  }

  /** How many strands are open. */
  get size(): number {
    return this.strands.size;
  }

  /** Whether the other side has said nothing for that time after it was asked; asks when there was nothing for as long. To be called again and again. */
  isSilent(ms: number): boolean {
    const now = performance.now();
    if (now - this.heardAt <= ms) return false;
    if (this.pingedAt !== undefined) return now - this.pingedAt > ms;
    this.pingedAt = now;
    this.send(frameTypes.ping, 0);
    return false;
  }

  /** A new strand. */
  open(): Strand {
    this.latest += 1;
    this.send(frameTypes.open, this.latest);
    return this.add(this.latest);
  }

  /** Ends the trunk as soon as no strand is open any more; takes and opens none from now on. */
  end(): void {
    this.isEnding = true;
    if (this.isAnswering) this.send(frameTypes.end, 0);
    this.endWhenEmpty();
  }

  /** Ends it, with all strands. */
  destroy(): void {
    this.socket.destroy();
  }

  /** Calls when it is over, whyever. */
  onClose(then: () => void): void {
    this.socket.once('close', then);
  }

  /** For strands: sends a frame with the others of this turn. */
  send(type: number, id: number, payload?: Buffer | string | number, encoding?: BufferEncoding): void {
    if (!this.socket.writableEnded && !this.socket.destroyed) this.writer.write(type, id, payload, encoding);
  }

  /** For strands: one is over, as the other side knows when both have said that all was said. */
  forget({ id }: Strand, isKnown: boolean): void {
    if (!this.strands.delete(id)) return;
    if (!isKnown) this.send(frameTypes.reset, id);
    if (this.isEnding) this.endWhenEmpty();
  }

  private endWhenEmpty(): void {
    if (this.strands.size > 0) return;
    this.writer.flush();
    // The other side closes then: who closes with bytes unread makes it lose what it hasn't read (RST).
    if (this.isAnswering) this.socket.end();
    else this.socket.destroySoon();
  }

  private add(id: number): Strand {
    const strand = new Strand(this, id);
    this.strands.set(id, strand);
    return strand;
  }

  private eachStrand(work: OnStrand): void {
    for (const strand of [...this.strands.values()]) work(strand);
  }

  private read(bytes: Buffer): void {
    this.heardAt = performance.now();
    this.pingedAt = undefined;
    for (const frame of this.reader.read(bytes))
      if (!this.take(frame)) {
        this.socket.destroy();
        return;
      }
  }

  private take(frame: Frame): boolean {
    if (frame.type === frameTypes.open) return this.takeOpened(frame);
    if (frame.id === 0) return this.takeOwn(frame);
    const strand = this.strands.get(frame.id);
    return strand ? strand.receive(frame) : frame.id <= this.latest; // it may be over on this side only
  }

  // Of the trunk itself. Who opens strands asks, who takes them answers.
  private takeOwn({ type }: Frame): boolean {
    if (type === frameTypes.end) this.isLeft = true;
    else if (type !== frameTypes.ping) return false;
    else if (this.isAnswering && !this.isFull) this.send(frameTypes.ping, 0);
    return true;
  }

  private takeOpened({ id }: Frame): boolean {
    if (!this.onStrand || id <= this.latest || this.strands.size >= mostStrands) return false;
    this.latest = id;
    if (this.isEnding) this.send(frameTypes.reset, id);
    else this.onStrand(this.add(id));
    return true;
  }
}
