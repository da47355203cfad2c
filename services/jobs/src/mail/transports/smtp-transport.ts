// Sends by SMTP over a small pool of connections. The server's reply decides whether there is
// another attempt.
import { readAuthorities } from '@almanac/service-kit/config/ca-file';
import { ServiceError } from '@almanac/service-kit/errors';
import { visibleText } from '@almanac/service-kit/http/html';
import { findTlsAdvice } from '@almanac/service-kit/observability/tls-advice';
import { createTransport, type NodemailerError } from 'nodemailer';
import type { SmtpServer } from './smtp-url.ts';
import { type MailTransport, toMessage } from './transport.ts';

const connectTimeoutMs = 15_000;
// A server may take minutes to process a complete message (RFC 5321, 4.5.3.2.6); a client that does
// not wait sends it twice.
const socketTimeoutMs = 5 * 60_000;
const sendTimeoutMs = 10 * 60_000;
// Servers close idle connections after a while. Ours are closed sooner, so that none is reused
// while the server closes it.
const idleTimeoutMs = 5_000;

/** A transport to a mail server; it connects with the first mail. */
export function createSmtpTransport(server: SmtpServer, connections: number): MailTransport {
  let authorities = server.caFile && readAuthorities(server.caFile);
  let pool = createPool(server, connections, authorities);
  // A changed CA file takes a new pool. The old one closes when it has nothing more to send.
  const current = () => {
    const found = server.caFile && readAuthorities(server.caFile);
    if (found !== authorities) {
      authorities = found;
      pool = createPool(server, connections, authorities);
    }
    return pool;
  };
  return {
    send: async (mail, signal) => {
      try {
        await current().sendMail({
          ...toMessage(mail),
          signal: AbortSignal.any([signal, AbortSignal.timeout(sendTimeoutMs)]),
        });
      } catch (error) {
        throw failureOf(error as NodemailerError);
      }
    },
    stop: () => pool.close(),
  };
}

function createPool({ host, port, tls, auth }: SmtpServer, connections: number, ca: string | undefined) {
  return createTransport({
    pool: true,
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'required',
    ignoreTLS: tls === 'none',
    ...(auth ? { auth } : {}),
    ...(ca !== undefined ? { tls: { ca } } : {}),
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    dnsTimeout: connectTimeoutMs,
    socketTimeout: socketTimeoutMs,
    idleTimeout: idleTimeoutMs,
    maxConnections: connections,
    maxRequeues: 0, // attempts are counted in one place only, the queue of jobs
  });
}

const maxReasonLength = 500;

/**
 * Classifies a failed attempt. Only a message that was refused permanently is given up. A refused
 * login, or a server that accepts nothing from us, is for operators to fix, and mails wait for it.
 */
export function failureOf({ code, permanent, responseCode, response, message }: NodemailerError): ServiceError {
  // Spam filters quote the links they refuse; our links contain secrets.
  const words = visibleText((response ?? message).replace(/\s+/g, ' '))
    .replace(/(https?:[^\s?]*\?)\S+/gi, '$1…')
    .slice(0, maxReasonLength);
  const isAboutMessage = code === 'EENVELOPE' || code === 'EMESSAGE';
  const isFinal = isAboutMessage && (permanent ?? responseCode === undefined);
  if (isFinal)
    return new ServiceError('validation_failed', {
      code: 'invalid',
      message: `The mail server refused the mail: ${words}`,
    });
  const advice = responseCode === undefined ? findTlsAdvice({ message }) : undefined;
  const problem = `The mail server did not take the mail: ${words}`;
  return new ServiceError('unavailable', advice ? [problem, advice] : problem);
}
