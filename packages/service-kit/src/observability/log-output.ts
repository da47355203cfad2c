// Writes log lines to a file descriptor, in batches that are at most a tenth of a second late: a
// write costs more than a line. When the reader doesn't keep up, lines are dropped. A full disk or
// a stalled reader must not hold up calls, fill memory or keep the process from exiting; pino's own
// destination retries for ever at exit.
import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

const batchBytes = 65_536;
const batchMs = 100;
const busyMs = 20;
const maxWaiting = 8 * 1024 * 1024; // characters
const busyTries = 50;

/** A destination for pino. A line reports how many lines were dropped, once writing works again. */
export function createLogOutput(fd: number, service: string): DestinationStream {
  const output = new LogOutput(fd, service);
  process.once('exit', () => output.end());
  return output;
}

class LogOutput implements DestinationStream {
  private readonly fd: number;
  private readonly service: string;
  private lines: string[] = [];
  private waiting = 0;
  private lost = 0;
  private isTorn = false;
  private isWriting = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(fd: number, service: string) {
    this.fd = fd;
    this.service = service;
  }

  write(line: string): void {
    if (this.waiting + line.length > maxWaiting) {
      this.lost += 1;
      return;
    }
    this.lines.push(line);
    this.waiting += line.length;
    this.scheduleFlush();
  }

  /** Writes the rest, as far as the reader takes it at once. */
  end(): void {
    let { text } = this.take();
    for (let tries = 0; text.length > 0 && tries < busyTries; )
      try {
        text = text.subarray(writeSync(this.fd, text));
      } catch (error) {
        if (!isBusy(error)) return;
        tries += 1;
      }
  }

  private scheduleFlush(): void {
    if (this.isWriting || this.lines.length === 0) return;
    if (this.waiting >= batchBytes) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), batchMs).unref();
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.isWriting) return;
    this.isWriting = true;
    const { text, count } = this.take();
    this.writeOn(text, count);
  }

  private take(): { text: Buffer; count: number } {
    const { lines, lost, isTorn } = this;
    this.lines = [];
    this.waiting = 0;
    this.lost = 0;
    const begin = isTorn ? '\n' : '';
    const text = begin + (lost > 0 ? this.lossLine(lost) : '') + lines.join('');
    return { text: Buffer.from(text), count: lines.length + lost };
  }

  private writeOn(text: Buffer, count: number): void {
    write(this.fd, text, 0, text.length, null, (error, written) => {
      if (error && isBusy(error)) {
        setTimeout(() => this.writeOn(text, count), busyMs).unref();
        return;
      }
      if (!error && written < text.length) {
        this.isTorn = true;
        this.writeOn(text.subarray(written), count);
        return;
      }
      if (error) this.lost += count;
      else this.isTorn = false;
      this.isWriting = false;
      this.scheduleFlush();
    });
  }

  private lossLine(lost: number): string {
    const { service } = this;
    const line = { level: 'warn', time: new Date().toISOString(), service, pid: process.pid, lost };
    return `${JSON.stringify({ ...line, msg: 'log lines could not be written and were lost' })}\n`;
  }
}

const isBusy = (error: unknown) => ['EAGAIN', 'EBUSY'].includes((error as NodeJS.ErrnoException).code ?? '');
