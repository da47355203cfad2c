// Writes mails into a folder of this machine instead of sending them: one .eml file each, whole or not at all.
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '@almanac/service-kit/errors';
import { createTransport } from 'nodemailer';
import { type MailTransport, toMessage } from './transport.ts';

/** Mails hold links that work once, so the folder and its files are for their owner only. */
export function createFolderTransport(folder: string): MailTransport {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    send: async (mail) => {
      const { message } = await composer.sendMail(toMessage(mail));
      await write(folder, `${mail.fileName}.eml`, message as Buffer);
    },
    stop: () => {},
  };
}

// A mail that is written a second time replaces itself.
async function write(folder: string, name: string, bytes: Buffer): Promise<void> {
  const draft = join(folder, `.${name}.${process.pid}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 }); // somebody may have cleared it away meanwhile
    const file = await open(draft, 'w', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, join(folder, name));
  } catch (cause) {
    await rm(draft, { force: true });
    throw new ServiceError('unavailable', 'The mail folder is not available just now.', { cause });
  }
}

/** The name under which a mail lies in the folder: when it was asked for, and its number. */
export function mailFileNameOf({ id, created_at }: { id: number; created_at: Date }): string {
  const time = created_at.toISOString().replace(/[-:]|\.\d+/g, '');
  return `${time}-mail-${id}`;
}

/** Names as `mailFileNameOf` makes them. */
export const mailFileName = /^\d{8}T\d{6}Z-mail-\d+$/;

/** Removes mails (and what a killed process left half written) that are older; answers how many. */
export async function sweepMailFiles(folder: string, before: Date): Promise<number> {
  let removed = 0;
  for (const name of await readdir(folder).catch(() => [])) {
    if (!/^\.?\d{8}T\d{6}Z-mail-\d+\.eml/.test(name)) continue; // nothing of anybody else's
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (!found || found.mtimeMs >= before.getTime()) continue;
    await rm(path, { force: true });
    removed += 1;
  }
  return removed;
}
