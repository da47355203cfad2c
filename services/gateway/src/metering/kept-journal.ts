// The journal of this gateway as a part of it: begun at the start, kept short, and the journals of gateways that died reported.

import type { Logger } from '@almanac/service-kit/logger';
import { Pause } from '@almanac/service-kit/pause';
import type { BillingClient } from './call-lease.ts';
import { type CallJournal, createJournalFile, type JournalFile } from './journal-file.ts';
import { type ClaimedJournal, enterJournalFolder, type JournalFolder } from './journal-folder.ts';
import { reportLeftCalls } from './left-calls.ts';

export type KeptJournal = CallJournal & {
  /** Whether all that is counted is written down. */
  isWhole(): boolean;
  start(): Promise<void>;
  stop(): Promise<void>;
};

const lookEveryMs = 1_000;

/** A journal in `directory`; `start` throws when it can't be kept there. */
export function createKeptJournal(options: { directory: string; billing: BillingClient; logger: Logger }): KeptJournal {
  const { directory, logger } = options;
  const pause = new Pause();
  let folder: JournalFolder | undefined;
  let file: JournalFile | undefined;
  let looking: Promise<void> | undefined;
  let isOver = false;
  let left: ClaimedJournal[] = [];

  const reportLeft = async (from: JournalFolder) => {
    try {
      left.push(...(await from.claim()));
      for (const journal of [...left]) {
        await reportLeftCalls(journal, options);
        left = left.filter((each) => each !== journal);
      }
    } catch (error) {
      logger.warn({ err: error }, 'calls of a gateway that died are not booked yet; it will be tried again');
    }
  };
  const look = async (from: JournalFolder) => {
    while (!isOver) {
      await reportLeft(from);
      file?.tidy();
      await pause.wait(lookEveryMs);
    }
  };
  return {
    opened: (lease) => file?.opened(lease),
    counted: (line) => file?.counted(line),
    booked: (lease, sequence) => file?.booked(lease, sequence),
    ended: (lease) => file?.ended(lease),
    isWhole: () => file?.isWhole() ?? false,
    async start() {
      folder = await enterJournalFolder(directory);
      file = createJournalFile(folder.path, logger);
      looking = look(folder);
    },
    async stop() {
      isOver = true;
      pause.end();
      await looking;
      file?.close();
      await folder?.leave();
    },
  };
}
