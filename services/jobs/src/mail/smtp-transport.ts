// Sends by SMTP over a few kept connections. What the server said decides whether there is another attempt.
import { ServiceError } from '@almanac/service-kit/errors';
import { visibleText } from '@almanac/service-kit/html';
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
export function createSmtpTransport({ host, port, tls, auth }: SmtpServer, connections: number): MailTransport {
  const pool = createTransport({
    pool: true,
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'required',
    ignoreTLS: tls === 'none',
    ...(auth ? { auth } : {}),
    connectionTimeout: connectWithinMs,
    greetingTimeout: connectWithinMs,
    dnsTimeout: connectWithinMs,
    socketTimeout: silentForMs,
    idleTimeout: idleForMs,
    maxConnections: connections,
    maxRequeues: 0, // attempts are counted in one place only, the queue of jobs
  });
  return {
    send: async (mail, signal) => {
      try {
        await pool.sendMail({
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
  return isFinal
    ? new ServiceError('validation_failed', `The mail server refused the mail: ${words}`)
    : new ServiceError('unavailable', `The mail server did not take the mail: ${words}`);
}
