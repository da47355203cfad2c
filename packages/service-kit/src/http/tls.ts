// The HTTPS server of a service, with the certificate that gRPC uses. Client certificates are
// optional: the platform's probes and Prometheus have none. `isOfGateway` recognises the gateway's
// requests.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Logger } from '../observability/logger.ts';
import { isCertificateOf, type ServiceTls } from '../tls/service-tls.ts';

const handshakeMs = 10_000;
/** After a withdrawal, a connection without a request closes after this time. */
const idleMs = 10_000;
const longestCallMs = 10 * 60_000; // as for gRPC

const ofGateway = new WeakSet<Socket>();

/** Whether the request came over a connection with the gateway's certificate. */
export const isOfGateway = ({ socket }: IncomingMessage): boolean => ofGateway.has(socket);

/**
 * Builds the server. New connections use new files at once. When an authority is withdrawn,
 * existing connections close with their next answer, or after ten seconds without a request; a
 * running call has ten minutes.
 */
export function createTlsServer(
  tls: ServiceTls,
  logger: Logger,
  settings: ServerOptions,
  serve: RequestListener,
): Server {
  const connections = new Set<Socket>();
  const running = new Map<Socket, ServerResponse>();
  const leaving = new WeakSet<Socket>();
  const leave = (res: ServerResponse) => {
    if (!res.headersSent) res.setHeader('Connection', 'close');
  };

  const server = createServer(
    {
      ...settings,
      ...tls.secureContext(),
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: handshakeMs,
    },
    (req, res) => {
      const { socket } = req;
      running.set(socket, res);
      if (leaving.has(socket)) leave(res);
      res.once('close', () => {
        running.delete(socket);
        if (leaving.has(socket)) socket.end();
      });
      serve(req, res);
    },
  );
  // Before Node's own listener, which reads requests.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    if (socket.getPeerX509Certificate() && !socket.authorized) {
      // As with gRPC, a certificate of an untrusted authority gets no connection.
      logger.info({ reason: socket.authorizationError }, 'closed a connection: its certificate is not trusted');
      socket.destroy();
      return;
    }
    if (socket.authorized && isCertificateOf('gateway', socket.getPeerCertificate())) ofGateway.add(socket);
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });

  tls.onChange(() => server.setSecureContext(tls.secureContext()));
  tls.onWithdrawal(() => {
    const before = [...connections];
    for (const socket of before) leaving.add(socket);
    for (const res of running.values()) leave(res);
    const end = (isOver: (socket: Socket) => boolean) => () => {
      for (const socket of before) if (isOver(socket)) socket.destroy();
    };
    setTimeout(
      end((socket) => !running.has(socket)),
      idleMs,
    ).unref();
    setTimeout(
      end(() => true),
      longestCallMs,
    ).unref();
  });
  return server;
}
