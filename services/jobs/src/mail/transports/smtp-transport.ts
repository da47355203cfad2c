// Sends by SMTP over a few kept connections. What the server said decides whether there is another attempt.
import { readAuthorities } from '@almanac/service-kit/config/ca-file';
import { ServiceError } from '@almanac/service-kit/errors';
import { visibleText } from '@almanac/service-kit/http/html';
import { findTlsAdvice } from '@almanac/service-kit/observability/tls-advice';
import { createTransport, type NodemailerError } from 'nodemailer';
import type { SmtpServer } from './smtp-url.ts';
import { type MailTransport, toMessage } from './transport.ts';

const connectWithinMs = 15_000;
// A server may think for minutes about a message that it has got whole (RFC 5321, 4.5.3.2.6); who doesn't wait sends it twice.
const silentForMs = 5 * 60_000;
const sendWithinMs = 10 * 60_000;
// Servers close idle connections after a while; ours are closed sooner, so that none is taken up just as it goes.
const idleForMs = 5_000;

/** A transport to a mail server; nothing is connected before the first mail. */
export function createSmtpTransport(server: SmtpServer, connections: number): MailTransport {
  let authorities = server.caFile && readAuthorities(server.caFile);
  let pool = createPool(server, connections, authorities);
  // Other authorities, other connections. Those of before close by themselves when they have nothing more to send.
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
          signal: AbortSignal.any([signal, AbortSignal.timeout(sendWithinMs)]),
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
    connectionTimeout: connectWithinMs,
    greetingTimeout: connectWithinMs,
    dnsTimeout: connectWithinMs,
    socketTimeout: silentForMs,
    idleTimeout: idleForMs,
    maxConnections: connections,
    maxRequeues: 0, // attempts are counted in one place only, the queue of jobs
  });
}

const longestReason = 500;

/**
 * What a failed attempt means. Only a message that was refused for good is given up; that we may not log in, or that the server
 * takes nothing from us at all, is for the operators to mend, and mails wait for it.
 */
export function failureOf({ code, permanent, responseCode, response, message }: NodemailerError): ServiceError {
  // Filters quote the links they don't like; ours hold secrets.
  const words = visibleText((response ?? message).replace(/\s+/g, ' '))
    .replace(/(https?:[^\s?]*\?)\S+/gi, '$1…')
    .slice(0, longestReason);
  const isAboutMessage = code === 'EENVELOPE' || code === 'EMESSAGE';
  const isFinal = isAboutMessage && (permanent ?? responseCode === undefined);
  if (isFinal) return new ServiceError('validation_failed', `The mail server refused the mail: ${words}`);
  const advice = responseCode === undefined ? findTlsAdvice({ message }) : undefined;
  const problem = `The mail server did not take the mail: ${words}`;
  return new ServiceError('unavailable', advice ? [problem, advice] : problem);
}
