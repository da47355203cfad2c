// The folder in which gateways of one machine keep their journals, and who of them lives. Each listens on a socket beside its
// journal: the kernel answers for a process that is alive, however slow, and for no dead one, across containers too.
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join, relative, resolve } from 'node:path';

/** A journal of a gateway that has died, ours now. */
export type ClaimedJournal = { path: string; lastWrittenAt: number };

export type JournalFolder = {
  /** Where our own journal goes. */
  path: string;
  /** Makes the journals of the dead ours; each is claimed by one gateway only. */
  claim(): Promise<ClaimedJournal[]>;
  leave(): Promise<void>;
};

// The name of its owner comes first; what was taken over has a number of its own behind it.
const journalName = /^([0-9a-f]{12})(?:\.[0-9a-f]{12})?\.calls(\.new)?$/;
const randomName = () => randomBytes(6).toString('hex');

// What a socket's address has room for, on the systems we run on.
const longestAddress = 103;

/** Enters the folder, which is made when it isn't there. It has to be on this machine: others' sockets can't be asked. */
export async function enterJournalFolder(directory: string): Promise<JournalFolder> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const me = randomName();
  const server = await listen(socketAddress(directory, me));
  return {
    path: join(directory, `${me}.calls`),
    claim: () => claim(directory, me),
    leave: () => new Promise((done) => server.close(() => done())),
  };
}

function socketAddress(directory: string, owner: string): string {
  const absolute = resolve(directory, `${owner}.sock`);
  const fromHere = relative(process.cwd(), absolute);
  const address = fromHere.length < absolute.length ? fromHere : absolute;
  if (Buffer.byteLength(address) > longestAddress)
    throw new Error(
      `GATEWAY_JOURNAL_DIRECTORY is too long for a socket's address (${longestAddress} bytes): ${address}`,
    );
  return address;
}

function listen(address: string): Promise<Server> {
  return new Promise((done, fail) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', fail);
    server.listen(address, () => done(server));
    server.unref();
  });
}

async function claim(directory: string, me: string): Promise<ClaimedJournal[]> {
  const claimed: ClaimedJournal[] = [];
  const dead = new Map<string, boolean>();
  for (const name of await readdir(directory)) {
    const [, owner, unfinished] = journalName.exec(name) ?? [];
    if (!owner || owner === me) continue;
    const address = socketAddress(directory, owner);
    if (!dead.has(owner)) dead.set(owner, await isDead(address));
    if (!dead.get(owner)) continue;
    const path = join(directory, name);
    if (unfinished) await rm(path, { force: true });
    else claimed.push(...(await takeOver(path, join(directory, `${me}.${randomName()}.calls`))));
    await rm(address, { force: true });
  }
  return claimed;
}

async function takeOver(from: string, to: string): Promise<ClaimedJournal[]> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []; // another gateway was quicker
    throw error;
  }
  return [{ path: to, lastWrittenAt: (await stat(to)).mtimeMs }];
}

// Names are never used twice, so who is dead stays dead. What can't be told counts as alive.
function isDead(address: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(address);
    socket.once('connect', () => {
      socket.destroy();
      done(false);
    });
    socket.once('error', (error: NodeJS.ErrnoException) =>
      done(error.code === 'ECONNREFUSED' || error.code === 'ENOENT'),
    );
  });
}
