// The disk of the gateway's journal is full: calls are counted all the same, the gateway knows that they are not written down, and with
// room again all that is not booked stands there. It takes a small file system of its own, so root on Linux.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@almanac/service-kit/logger';
import { CallLease } from '../../services/gateway/src/metering/call-lease.ts';
import { createJournalFile, type JournalFile } from '../../services/gateway/src/metering/journal-file.ts';
import { readJournal } from '../../services/gateway/src/metering/journal-lines.ts';

let folder: string;
let journal: JournalFile;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-small-journal-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=0755', 'tmpfs', folder]);
});
afterAll(() => {
  journal?.close(); // a file that is open keeps the file system mounted
  execFileSync('umount', [folder]);
  rmSync(folder, { recursive: true });
});

it('a full disk stops no call, and what could not be written is written when there is room', () => {
  const path = join(folder, 'own.calls');
  journal = createJournalFile(path, createLogger('gateway', 'silent'));
  const never = Number.POSITIVE_INFINITY;
  const terms = { id: 'lease-1', accountId: 7, granted: 10_000, usableUntil: never, periodEndsAt: never };
  const lease = new CallLease({ ...terms, clipped: false, clockOffsetMs: 0 }, journal, () => {});
  let served = 0;
  const serve = () => {
    lease.take(performance.now());
    lease.count('GET', 'domains', 3);
    served += 1;
  };
  const written = () => readJournal(readFileSync(path, 'utf8'))[0]?.reports[0]?.served[0]?.calls;
  serve();
  const filler = join(folder, 'filler');
  expect(() => writeFileSync(filler, Buffer.alloc(65_536))).toThrow(/ENOSPC/);
  while (journal.isWhole() && served < 1_000) serve();
  expect(journal.isWhole()).toBe(false);
  for (let more = 0; more < 10; more += 1) serve();
  journal.tidy();
  expect([journal.isWhole(), written()]).toEqual([false, served - 11]); // the one that failed, and those after it
  rmSync(filler);
  journal.tidy();
  expect([journal.isWhole(), written()]).toEqual([true, served]);
  serve();
  expect(written()).toBe(served);
});
