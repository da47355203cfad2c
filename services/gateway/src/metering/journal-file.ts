// One gateway's journal of calls: what it counts is written here before the client sees the answer, and survives the process.
// Nothing is synced: the kernel keeps what was written when a process is killed; a machine that dies takes its last second with it.
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import type { Logger } from '@almanac/service-kit/logger';
import { bookedLine, countedLine, endedLine, type LeaseName, openedLine, type ServedCalls } from './journal-lines.ts';

/** A lease as the journal sees it. */
export type JournaledLease = {
  terms: LeaseName;
  /** What it has served and not heard to be booked, by report. */
  unbooked(): ServedCalls[];
};

/** Where leases write down what they count. */
export type CallJournal = {
  opened(lease: JournaledLease): void;
  /** Writes a call down, as `countedLine` says it. When this returns the call is counted, whatever becomes of the process. */
  counted(line: Buffer): void;
  booked(lease: JournaledLease, sequence: number): void;
  ended(lease: JournaledLease): void;
};

export type JournalFile = CallJournal & {
  /** Keeps the file short, and begins it anew when something could not be written. */
  tidy(): void;
  /** Whether all that is counted is written down. */
  isWhole(): boolean;
  /** Lets go of the file; removes it when it holds nothing that somebody has to report. */
  close(): void;
};

const shortBytes = 4 * 1024 * 1024;

/** Begins the journal `path`, which must not exist. Throws when it can't be made; a write that fails later is logged. */
export function createJournalFile(path: string, logger: Logger, longBytes = shortBytes): JournalFile {
  const leases = new Set<JournaledLease>();
  let file = openSync(path, 'ax', 0o600);
  let bytes = 0;
  let tidyAt = longBytes;
  let isWhole = true;

  const fail = (error: unknown) => {
    if (isWhole)
      logger.error({ err: error }, 'the journal of calls can not be written; calls are counted in memory only');
    isWhole = false;
  };
  const write = (line: Buffer) => {
    if (!isWhole) return; // begun anew as soon as that is possible, with all that is not booked
    try {
      const written = writeSync(file, line);
      bytes += written;
      if (written < line.length) fail(new Error('The disk took only a part of a line.'));
    } catch (error) {
      fail(error);
    }
  };
  const rewrite = () => {
    const fresh = `${path}.new`;
    let next: number | undefined;
    try {
      const text = Buffer.concat([...leases].flatMap(linesOf));
      rmSync(fresh, { force: true });
      next = openSync(fresh, 'ax', 0o600);
      for (let done = 0; done < text.length; ) done += writeSync(next, text, done);
      renameSync(fresh, path);
      closeSync(file);
      file = next;
      bytes = text.length;
      tidyAt = Math.max(longBytes, 2 * bytes);
      isWhole = true;
    } catch (error) {
      if (next !== undefined) closeSync(next);
      fail(error);
    }
  };

  return {
    opened: (lease) => {
      leases.add(lease);
      write(openedLine(lease.terms));
    },
    counted: write,
    booked: (lease, sequence) => write(bookedLine(lease.terms, sequence)),
    ended: (lease) => {
      leases.delete(lease);
      write(endedLine(lease.terms));
    },
    tidy: () => {
      if (!isWhole || bytes >= tidyAt) rewrite();
    },
    isWhole: () => isWhole,
    close: () => {
      closeSync(file);
      if (leases.size === 0) rmSync(path, { force: true });
    },
  };
}

function linesOf(lease: JournaledLease): Buffer[] {
  const counted = lease
    .unbooked()
    .flatMap(({ sequence, served }) => served.map((count) => countedLine(lease.terms, sequence, count)));
  return [openedLine(lease.terms), ...counted];
}
