// Writes mails into a folder of this machine instead of sending them: one .eml file each, written
// atomically.
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '@almanac/service-kit/errors';
import { createTransport } from 'nodemailer';
import { type MailTransport, toMessage } from './transport.ts';

/** Only the owner may read the folder and its files, since mails contain links that work once. */
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

// A repeated mail replaces its file.
async function write(folder: string, name: string, bytes: Buffer): Promise<void> {
  const draft = join(folder, `.${name}.${process.pid}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 }); // it may have been deleted
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
    throw new ServiceError('unavailable', 'The mail folder is not available.', { cause });
  }
}

/** The file name of a mail: when it was requested, and its number. */
export function mailFileNameOf({ id, created_at }: { id: number; created_at: Date }): string {
  const time = created_at.toISOString().replace(/[-:]|\.\d+/g, '');
  return `${time}-mail-${id}`;
}

/** Names as `mailFileNameOf` makes them. */
export const mailFileName = /^\d{8}T\d{6}Z-mail-\d+$/;

/** Removes the file of a mail, if there is one. */
export async function removeMailFile(folder: string, mail: { id: number; created_at: Date }): Promise<void> {
  await rm(join(folder, `${mailFileNameOf(mail)}.eml`), { force: true });
}

/** Removes older mails, and drafts that a killed process left; answers how many. */
export async function sweepMailFiles(folder: string, before: Date): Promise<number> {
  let removed = 0;
  for (const name of await readdir(folder).catch(() => [])) {
    if (!/^\.?\d{8}T\d{6}Z-mail-\d+\.eml/.test(name)) continue; // only files that this transport wrote
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (!found || found.mtimeMs >= before.getTime()) continue;
    await rm(path, { force: true });
    removed += 1;
  }
  return removed;
}
