// Requests and answers as bytes, since HTTP clients normalize both.
import { connect } from 'node:net';
import { baseUrl } from '@almanac/testkit/system/builders';

export type Answer = {
  /** 0: the connection was closed without one. */
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
  /** The number of answers; an interim one (1xx) doesn't count. */
  count: number;
  /** Whether the connection was closed afterwards, instead of waiting for more. */
  isClosed: boolean;
};

type Parts = {
  token?: string;
  /** Further lines of the head, sent unchanged. */
  lines?: string[];
  body?: string | Buffer;
  /** Of the body; null: no Content-Type is sent. */
  type?: string | null;
};

const apiPrefix = '/api/v1';

/** A whole request below /api/v1, the last of its connection. */
export function request(method: string, path: string, parts: Parts = {}): Buffer {
  return rawRequest(method, `${apiPrefix}${path}`, parts);
}

/** The same for any target. */
export function rawRequest(method: string, target: string, { token, lines = [], body, type }: Parts = {}): Buffer {
  const bytes = body === undefined ? undefined : Buffer.from(body as string);
  const framing = bytes ? [`Content-Length: ${bytes.length}`] : [];
  const kind = bytes && type !== null ? [`Content-Type: ${type ?? 'application/json'}`] : [];
  return Buffer.concat([
    head(`${method} ${target} HTTP/1.1`, 'Host: almanac.test', ...bearer(token), ...kind, ...framing, ...lines, last),
    bytes ?? Buffer.alloc(0),
  ]);
}

/** Lines of a head, with its end. What is not ASCII goes out as UTF-8. */
export const head = (...lines: string[]): Buffer => Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);

export const last = 'Connection: close';
export const bearer = (token?: string) => (token === undefined ? [] : [`Authorization: Bearer ${token}`]);

const patienceMs = 60_000;

/** Sends bytes unchanged and reads until the connection is closed. */
export function exchange(bytes: string | Buffer): Promise<Answer> {
  const { hostname, port } = new URL(baseUrl());
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    let isClosed = true;
    const timer = setTimeout(() => {
      isClosed = false;
      socket.destroy();
    }, patienceMs);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => {}); // it may be reset after its answer
    socket.on('close', () => {
      clearTimeout(timer);
      resolve({ ...readAnswer(Buffer.concat(chunks)), isClosed });
    });
    socket.write(bytes);
  });
}

const statusLine = /^HTTP\/1\.1 (\d{3})/;

function readAnswer(bytes: Buffer): Omit<Answer, 'isClosed'> {
  const text = bytes.toString('latin1');
  const answers = text.split(/^(?=HTTP\/1\.1 [2-5]\d\d )/m).filter((part) => /^HTTP\/1\.1 [2-5]/.test(part));
  const [first = ''] = answers;
  const end = first.indexOf('\r\n\r\n');
  const lines = first.slice(0, end === -1 ? first.length : end).split('\r\n');
  const headers = Object.fromEntries(
    lines.slice(1).map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return {
    status: Number(statusLine.exec(first)?.[1] ?? 0),
    headers,
    body: end === -1 ? '' : Buffer.from(first.slice(end + 4), 'latin1').toString(),
    count: answers.length,
  };
}
