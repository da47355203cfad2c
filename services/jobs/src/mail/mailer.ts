// The settings of outgoing mail: the transport, the sender, and the public URL of links.
import { fileURLToPath } from 'node:url';
import type { MailAddress } from './transports/addresses.ts';
import { createFolderTransport } from './transports/folder-transport.ts';
import { createSmtpTransport } from './transports/smtp-transport.ts';
import { readSmtpUrl } from './transports/smtp-url.ts';
import type { MailTransport } from './transports/transport.ts';

export type Mailer = {
  transport: MailTransport;
  from: MailAddress;
  publicUrl: string;
  /** The address of the console, to whose pages links of mails lead. */
  consoleUrl: string;
  /** The folder, when mails are written instead of sent. */
  folder?: string;
};

/** Mails that an instance sends in parallel. */
export const concurrentMails = 4;

type Options = { smtpUrl: string } & Pick<Mailer, 'from' | 'publicUrl' | 'consoleUrl'>;

/** Creates the transport that the URL names. */
export function createMailer({ smtpUrl, ...addresses }: Options): Mailer {
  if (!smtpUrl.startsWith('file:'))
    return { transport: createSmtpTransport(readSmtpUrl(smtpUrl), concurrentMails), ...addresses };
  const folder = fileURLToPath(smtpUrl);
  return { transport: createFolderTransport(folder), ...addresses, folder };
}
