// One kept-alive HTTP connection that reads no more of an answer than it must: what the load generator costs, the servers lack.
import { connect, type Socket } from 'node:net';

/** A request as it goes over the wire. */
export function writeRequest(
  method: string,
  path: string,
  { host, headers, body }: { host: string; headers: Record<string, string>; body?: unknown },
): string {
  const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  if (body === undefined) return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
  const text = JSON.stringify(body);
  const framing = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}${framing}\r\n${text}`;
}

const nothing = Buffer.alloc(0);

export class Connection {
  private readonly socket: Socket;
  private begun: Buffer = nothing;
  private missing = 0;
  private status = 0;
  private done: (() => void) | undefined;
  private fail: ((error: Error) => void) | undefined;

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.setNoDelay(true);
    this.socket.on('data', (chunk) => this.read(chunk));
    this.socket.on('error', (error) => this.fail?.(error));
    this.socket.on('close', () => this.fail?.(new Error('The connection was closed before the answer was whole.')));
  }

  /** Sends the request and waits for the whole answer; anything but 2xx is an error. */
  ask(request: string): Promise<void> {
    return new Promise((done, fail) => {
      this.done = done;
      this.fail = fail;
      this.socket.write(request);
    });
  }

  close(): void {
    this.done = undefined;
    this.fail = undefined;
    this.socket.destroy();
  }

  private read(chunk: Buffer): void {
    if (this.missing > 0) this.missing -= chunk.length;
    else {
      this.begun = this.begun.length === 0 ? chunk : Buffer.concat([this.begun, chunk]);
      const end = this.begun.indexOf('\r\n\r\n');
      if (end === -1) return;
      const head = this.begun.toString('latin1', 0, end);
      this.status = Number(head.slice(9, 12));
      const length = /\ncontent-length: (\d+)/i.exec(head)?.[1];
      if (length === undefined || this.status < 200 || this.status > 299) {
        this.refuse();
        return;
      }
      this.missing = Number(length) - (this.begun.length - end - 4);
    }
    if (this.missing > 0) return;
    this.begun = nothing;
    this.done?.();
  }

  private refuse(): void {
    this.fail?.(new Error(`An answer that was not expected: ${this.begun.toString().slice(0, 1_000)}`));
  }
}
