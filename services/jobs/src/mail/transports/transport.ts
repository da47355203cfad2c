// Where mails go: to a mail server, or into a folder. Both send the same message.
import type { SendMailOptions } from 'nodemailer';
import type { MailContent } from '../templates/render-mail.ts';
import type { MailAddress } from './addresses.ts';

export type OutgoingMail = MailContent & {
  /** The same for every attempt, so that a mail received twice can be recognised. */
  messageId: string;
  /** Likewise, as a file name. */
  fileName: string;
  from: MailAddress;
  to: MailAddress;
};

export type MailTransport = {
  /**
   * Resolves when the mail was accepted. Throws `unavailable` when a later attempt may succeed,
   * `validation_failed` with the server's words when none will.
   */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<void>;
  stop(): void;
};

/**
 * The message for nodemailer. Addresses are passed in parts and the envelope explicitly, so that no
 * name can add a recipient.
 */
export function toMessage({ messageId, from, to, subject, text, html }: OutgoingMail): SendMailOptions {
  return {
    messageId: `<${messageId}>`,
    from,
    to,
    envelope: { from: from.address, to: [to.address] },
    subject,
    text,
    html,
    headers: {
      'Auto-Submitted': 'auto-generated', // RFC 3834: no robot should answer
      'X-Auto-Response-Suppress': 'All', // the same for Exchange
      'Content-Language': 'en',
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
