// A receiver of webhooks: a real HTTP server, which verifies each message with the independent
// library of the specification, and answers as the test says.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Webhook } from 'standardwebhooks';

export type Received = {
  id: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: the fields are those of the message
  event: any;
  at: number;
};
type Answer = (response: ServerResponse, received: Received) => void;

export type Receiver = {
  url: string;
  port: number;
  received: Received[];
  /** How it answers from now on. */
  answer: Answer;
  /** The ids of what was received, in order. */
  ids(): string[];
  /** Throws unless the message has a signature by this secret. */
  verify(secret: string, message: Received): void;
  stop(): Promise<void>;
};

export const accept: Answer = (response) => response.writeHead(200).end('ok');
export const status =
  (code: number, text = ''): Answer =>
  (response) =>
    response.writeHead(code).end(text);
/** Takes the connection, and never answers. */
export const hang: Answer = () => {};

export async function givenReceiver(answer: Answer = accept): Promise<Receiver> {
  const sockets = new Set<Socket>();
  const receiver: Receiver = {
    url: '',
    port: 0,
    received: [],
    answer,
    ids: () => receiver.received.map(({ id }) => id),
    verify: (secret, { body, headers }) =>
      void new Webhook(secret).verify(body, headers as Record<string, string>, { jsonParse: false }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const message = {
        id: String(request.headers['webhook-id']),
        path: request.url ?? '',
        headers: request.headers,
        body,
        event: JSON.parse(body),
        at: Date.now(),
      };
      receiver.received.push(message);
      receiver.answer(response, message);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  receiver.port = (server.address() as AddressInfo).port;
  receiver.url = `http://127.0.0.1:${receiver.port}/hook`;
  return receiver;
}
