// What sending needs, as the configuration says: where mails go, from whom, and where their links lead.
import { fileURLToPath } from 'node:url';
import type { MailAddress } from './transports/addresses.ts';
import { createFolderTransport } from './transports/folder-transport.ts';
import { createSmtpTransport } from './transports/smtp-transport.ts';
import { readSmtpUrl } from './transports/smtp-url.ts';
import type { MailTransport } from './transports/transport.ts';

export type Mailing = {
  transport: MailTransport;
  from: MailAddress;
  publicUrl: string;
  /** Where mails are written, if they are not sent. */
  folder?: string;
};

/** Mails that an instance sends at once. */
export const mailsAtOnce = 4;

type Options = { smtpUrl: string; from: MailAddress; publicUrl: string };

/** The transport that the URL asks for, ready to send. */
export function createMailing({ smtpUrl, from, publicUrl }: Options): Mailing {
  if (!smtpUrl.startsWith('file:'))
    return { transport: createSmtpTransport(readSmtpUrl(smtpUrl), mailsAtOnce), from, publicUrl };
  const folder = fileURLToPath(smtpUrl);
  return { transport: createFolderTransport(folder), from, publicUrl, folder };
}
