// Requests as raw bytes, which an HTTP client would not send.
import { connect, type Socket } from 'node:net';
import { refusalFault } from '@almanac/testkit/calls/refusal';
import type { TestGateway } from './given.ts';

export type Raw = { text: string; status: number; closed: boolean };

/** Sends bytes and reads until the connection is closed or the condition holds. */
export function send(
  to: TestGateway,
  bytes: string | Buffer,
  until: (text: string) => boolean = () => false,
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const socket = connect(to.port, '127.0.0.1');
    let text = '';
    const done = (closed: boolean) => {
      clearTimeout(timer);
      if (!closed) socket.destroy();
      resolve({ text, status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), closed });
    };
    const timer = setTimeout(() => reject(new Error(`nothing more after: ${text.slice(0, 500)}`)), 60_000);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (until(text)) done(false);
    });
    socket.on('error', () => {});
    socket.on('close', () => done(true));
    socket.write(bytes);
  });
}

/** A client's connection; errors of the connection are ignored. */
export const open = (to: TestGateway): Socket => connect(to.port, '127.0.0.1').on('error', () => {});

/** The lines of a head, with the empty line at its end. */
export const lines = (...parts: string[]) => `${parts.join('\r\n')}\r\n\r\n`;
/** Whether an answer's body is the contract's. */
export const isErrorBody = (text: string) =>
  refusalFault(JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))) === undefined;
