// What goes over a trunk: frames of eight bytes and a payload. Type (1 byte), length of the payload (3), strand (4), little-endian.
import type { Socket } from 'node:net';

export const frameTypes = {
  /** The strand begins; ids grow. */
  open: 1,
  data: 2,
  /** So many bytes more may be sent (4 bytes). */
  credit: 3,
  /** No more data from this side. Of no strand (0): this side takes no more strands. */
  end: 4,
  /** The strand is over on this side. */
  reset: 5,
  /** Of no strand: whether the other side is there, which says the same. */
  ping: 6,
};

export type Frame = { type: number; id: number; payload: Buffer };

const headBytes = 8;
/** The longest payload. */
export const mostInFrame = 65_536;
const slabBytes = headBytes + mostInFrame;
/** Bytes from this length on aren't copied among the other frames. */
const apartBytes = 16_384;

/** A length that no side may send. */
const tooLong = -1;

/** Makes frames of bytes as they come. */
export class FrameReader {
  private rest: Buffer | undefined;
  /** The strand whose data has begun to come, and how much of it hasn't yet. */
  private begun = 0;
  private missing = 0;

  /**
   * What these bytes bring: frames that are complete, and of data what there is, so that nothing long is kept and put together. One
   * that is too long is the last, with a type that nobody knows.
   */
  read(bytes: Buffer): Frame[] {
    const all = this.rest ? Buffer.concat([this.rest, bytes]) : bytes;
    const frames: Frame[] = [];
    let at = Math.min(this.missing, all.length);
    if (at > 0) frames.push({ type: frameTypes.data, id: this.begun, payload: all.subarray(0, at) });
    this.missing -= at;
    while (all.length - at >= headBytes) {
      const type = all[at] as number;
      const length = all.readUIntLE(at + 1, 3);
      const id = all.readUInt32LE(at + 4);
      const begin = at + headBytes;
      const end = begin + length;
      if (length > mostInFrame) {
        frames.push({ type: tooLong, id, payload: all.subarray(at, at) });
        break;
      }
      if (type !== frameTypes.data && all.length < end) break;
      at = Math.min(end, all.length);
      if (at > begin || length === 0) frames.push({ type, id, payload: all.subarray(begin, at) });
      this.begun = id;
      this.missing = end - at;
    }
    this.rest = at < all.length ? all.subarray(at) : undefined;
    return frames;
  }
}

/** Gathers the frames of one turn of the event loop: every write to a socket may wake a process that sleeps, which costs more than the bytes. */
export class FrameWriter {
  private readonly socket: Socket;
  private slab = Buffer.allocUnsafe(slabBytes);
  private from = 0;
  private to = 0;
  private isDue = false;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /**
   * Writes a frame; it leaves with the others of this turn, in order. A number is four bytes. Long bytes are not copied, so they must stay
   * as they are.
   */
  write(type: number, id: number, payload: Buffer | string | number = '', encoding: BufferEncoding = 'utf8'): void {
    this.becomeDue();
    const length = lengthOf(payload, encoding);
    const isApart = typeof payload === 'object' && length >= apartBytes;
    if (slabBytes - this.to < headBytes + (isApart ? 0 : length)) this.renew();
    const { slab } = this;
    slab[this.to] = type;
    slab.writeUIntLE(length, this.to + 1, 3);
    slab.writeUInt32LE(id, this.to + 4);
    this.to += headBytes;
    if (isApart) {
      this.handOver();
      this.socket.write(payload);
    } else this.to += put(payload, slab, this.to, encoding);
  }

  /** Sends what was gathered. */
  flush(): void {
    this.handOver();
    this.socket.uncork();
  }

  private becomeDue(): void {
    if (this.isDue) return;
    this.isDue = true;
    this.socket.cork();
    setImmediate(() => {
      this.isDue = false;
      this.flush();
    });
  }

  private handOver(): void {
    if (this.to === this.from || this.socket.destroyed) return;
    this.socket.write(this.slab.subarray(this.from, this.to));
    this.from = this.to;
  }

  // What was handed over may still be waiting in the socket, so a slab is never written to again.
  private renew(): void {
    this.handOver();
    this.slab = Buffer.allocUnsafe(slabBytes);
    this.from = 0;
    this.to = 0;
  }
}

function lengthOf(payload: Buffer | string | number, encoding: BufferEncoding): number {
  if (typeof payload === 'number') return 4;
  return typeof payload === 'string' ? Buffer.byteLength(payload, encoding) : payload.length;
}

function put(payload: Buffer | string | number, slab: Buffer, at: number, encoding: BufferEncoding): number {
  if (typeof payload === 'number') return slab.writeUInt32LE(payload, at) - at;
  if (typeof payload === 'string') return slab.write(payload, at, encoding);
  slab.set(payload, at);
  return payload.length;
}
