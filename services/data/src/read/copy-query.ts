// A COPY … TO STDOUT as a query of `pg`. PostgreSQL sends each row as a message of its own; here their contents are put together as the
// socket gives them, without an object for each: a quarter of what a stream of messages costs.
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type pg from 'pg';

const headerBytes = 5; // a letter, and the length of what follows with itself
const lengthBytes = 4;
const copyData = 0x64;
// May stand among the rows: CopyOutResponse, ParameterStatus, NoticeResponse, NotificationResponse.
const passedOver = new Set([0x48, 0x53, 0x4e, 0x41]);

type Connection = { stream: Socket; query(text: string): void };
type Listener = (bytes: Buffer) => void;

export class CopyQuery extends EventEmitter<{ changed: [] }> {
  /** How many rows there were; known at the end. */
  rows = 0;
  private readonly text: string;
  private readonly chunkBytes: number;
  private readonly chunksAhead: number;
  private stream: Socket | undefined;
  /** What `pg` listens with, for everything that is no row. */
  private listener: Listener | undefined;
  private readonly header = Buffer.alloc(headerBytes);
  private headerFilled = 0;
  private left = 0;
  private isRow = false;
  private chunk: Buffer;
  private filled = 0;
  private readonly full: Buffer[] = [];
  private ended = false;
  private failure: unknown;

  /** `chunksAhead` full chunks wait for whoever takes them before the socket is left alone. */
  constructor(text: string, chunkBytes: number, chunksAhead: number) {
    super();
    this.text = text;
    this.chunkBytes = chunkBytes;
    this.chunksAhead = chunksAhead;
    this.chunk = Buffer.allocUnsafeSlow(chunkBytes);
  }

  /** The bytes in chunks of that size, the last one smaller, cut anywhere; an error of PostgreSQL or of the connection is thrown. */
  async *chunks(): AsyncGenerator<Buffer> {
    for (;;) {
      const chunk = this.full.shift();
      if (chunk) {
        if (this.full.length < this.chunksAhead && this.listener) this.stream?.resume();
        yield chunk;
      } else if (this.failure !== undefined) throw this.failure;
      else if (this.ended) break;
      else await new Promise<void>((resolve) => this.once('changed', resolve));
    }
    if (this.filled > 0) yield this.chunk.subarray(0, this.filled);
  }

  /** For `pg`, as what follows. */
  submit(connection: Connection): void {
    this.stream = connection.stream;
    const [listener] = this.stream.listeners('data') as Listener[];
    if (!listener || this.stream.listenerCount('data') !== 1) throw new Error('somebody else reads the connection');
    this.listener = listener;
    this.stream.off('data', listener).on('data', this.take);
    connection.query(this.text);
  }

  handleError(error: unknown): void {
    this.failure = error;
    this.emit('changed');
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.rows = Number(/^COPY (\d+)/.exec(text)?.[1] ?? 0);
  }

  handleReadyForQuery(): void {
    this.ended = true;
    this.emit('changed');
  }

  private readonly take = (bytes: Buffer): void => {
    for (let at = 0; at < bytes.length; ) {
      if (this.left > 0) {
        const end = Math.min(bytes.length, at + this.left);
        if (this.isRow) this.keep(bytes, at, end);
        this.left -= end - at;
        at = end;
        continue;
      }
      const isWhole = this.headerFilled === 0 && bytes.length - at >= headerBytes;
      if (!isWhole) {
        const copied = bytes.copy(this.header, this.headerFilled, at, at + headerBytes - this.headerFilled);
        this.headerFilled += copied;
        at += copied;
        if (this.headerFilled < headerBytes) return;
        this.headerFilled = 0;
      }
      const header = isWhole ? bytes : this.header;
      const from = isWhole ? at : 0;
      const kind = header[from] as number;
      this.isRow = kind === copyData;
      if (!this.isRow && !passedOver.has(kind)) {
        const rest = bytes.subarray(at);
        this.giveBack(isWhole ? rest : Buffer.concat([this.header, rest]));
        return;
      }
      this.left = header.readInt32BE(from + 1) - lengthBytes;
      if (isWhole) at += headerBytes;
    }
  };

  private keep(bytes: Buffer, from: number, end: number): void {
    for (let at = from; at < end; ) {
      const copied = bytes.copy(this.chunk, this.filled, at, end);
      at += copied;
      this.filled += copied;
      if (this.filled < this.chunkBytes) continue;
      this.full.push(this.chunk);
      this.chunk = Buffer.allocUnsafeSlow(this.chunkBytes);
      this.filled = 0;
      if (this.full.length >= this.chunksAhead) this.stream?.pause();
      this.emit('changed');
    }
  }

  // From here on `pg` reads again, beginning with these bytes.
  private giveBack(bytes: Buffer): void {
    const { stream, listener } = this;
    if (!stream || !listener) return;
    this.listener = undefined;
    stream.off('data', this.take).on('data', listener);
    listener(bytes);
    stream.resume();
  }
}

/** Runs the query on this connection. */
export const startCopy = (client: pg.PoolClient, query: CopyQuery): CopyQuery =>
  client.query(query as never) as unknown as CopyQuery;
