// What a gateway that was killed leaves behind, and what becomes of it: files in a folder, billing played at its RPC edge.
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '@almanac/service-kit/errors';
import { createLogger } from '@almanac/service-kit/logger';
import { eventually } from '@almanac/testkit/eventually';
import { type BillingClient, CallLease } from './call-lease.ts';
import { createJournalFile, type JournalFile } from './journal-file.ts';
import { enterJournalFolder } from './journal-folder.ts';
import { readJournal } from './journal-lines.ts';
import { createKeptJournal } from './kept-journal.ts';

const logger = createLogger('gateway', 'silent');
let directory: string;
const open: { stop(): Promise<void> }[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journal-'));
});
afterEach(async () => {
  for (const each of open.splice(0)) await each.stop();
  rmSync(directory, { recursive: true });
});

type Booked = { lease: string; account: number; sequence: number; calls: number; release: boolean };

/** Billing that books each report once, and can be away. */
function givenBilling() {
  const booked: Booked[] = [];
  const fake = { booked, isAway: false, isLost: false, client: {} as BillingClient };
  fake.client = {
    ReserveCalls: async () => {
      throw new Error('not part of this test');
    },
    SettleCalls: async ({ accountId: account }, { lease_id, sequence, served, release }) => {
      if (fake.isAway) throw new ServiceError('unavailable', 'away');
      const report = { lease: String(lease_id), account, sequence: Number(sequence), release: release === true };
      const last = Math.max(0, ...booked.filter(({ lease }) => lease === report.lease).map((each) => each.sequence));
      const calls = (served ?? []).reduce((sum, each) => sum + Number(each.calls), 0);
      if (report.sequence > last) booked.push({ ...report, calls });
      if (fake.isLost) throw new ServiceError('unavailable', 'the answer is lost');
      return { lease_open: !release, expires_in_seconds: 30 };
    },
  };
  return fake;
}

function givenLease(journal: JournalFile, id: string, accountId = 7): CallLease {
  const never = Number.POSITIVE_INFINITY;
  const terms = {
    id,
    accountId,
    granted: 100,
    usableUntil: never,
    periodEndsAt: never,
    clipped: false,
    clockOffsetMs: 0,
  };
  return new CallLease(terms, journal, () => {});
}

function serve(lease: CallLease, calls: number, resource = 'domains'): void {
  for (let call = 0; call < calls; call += 1) {
    lease.take(performance.now());
    lease.count('GET', resource, 3);
  }
}

const callsIn = (path: string) =>
  readJournal(readFileSync(path, 'utf8')).map(({ id, accountId, reports }) => ({
    id,
    accountId,
    reports: reports.map(({ sequence, served }) => [
      sequence,
      served.map(({ resource, calls }) => `${resource} ${calls}`),
    ]),
  }));

/** A gateway that was killed: its journal as it left it, and no socket that answers. */
async function givenDeadGateway(fill: (journal: JournalFile) => Promise<void> | void): Promise<string> {
  const folder = await enterJournalFolder(directory);
  const journal = createJournalFile(folder.path, logger);
  await fill(journal);
  journal.close();
  await folder.leave();
  return folder.path;
}

async function startJournal(billing: BillingClient): Promise<void> {
  const journal = createKeptJournal({ directory, billing, logger });
  await journal.start();
  open.push(journal);
}

it('has a call on the disk when it is counted, and not any more when it is booked', async () => {
  const path = join(directory, 'own.calls');
  const journal = createJournalFile(path, logger);
  const billing = givenBilling();
  const lease = givenLease(journal, 'lease-1');
  serve(lease, 2);
  serve(lease, 1, 'branches');
  expect(callsIn(path)).toEqual([{ id: 'lease-1', accountId: 7, reports: [[1, ['domains 2', 'branches 1']]] }]);
  await lease.settle(billing.client);
  serve(lease, 3);
  expect(callsIn(path)).toEqual([{ id: 'lease-1', accountId: 7, reports: [[2, ['domains 3']]] }]);
  await lease.settle(billing.client, { release: true });
  expect(callsIn(path)).toEqual([]);
  journal.close();
  expect(existsSync(path)).toBe(false);
});

it('passes over a line that was not finished, and what is no line', async () => {
  const path = join(directory, 'own.calls');
  const journal = createJournalFile(path, logger);
  serve(givenLease(journal, 'lease-1'), 2);
  appendFileSync(path, '\0\0\0\ncounted lease-2 1 5 2026-01-01 GET domains 3\ncounted lease-1 1 7');
  expect(callsIn(path)).toEqual([{ id: 'lease-1', accountId: 7, reports: [[1, ['domains 2']]] }]);
  journal.close();
});

it('stays short', async () => {
  const path = join(directory, 'own.calls');
  const longBytes = 2_000;
  const journal = createJournalFile(path, logger, longBytes);
  const billing = givenBilling();
  const lease = givenLease(journal, 'lease-1');
  for (let round = 0; round < 40; round += 1) {
    serve(lease, 2);
    await lease.settle(billing.client);
    journal.tidy();
    expect(readFileSync(path).length).toBeLessThan(longBytes * 2);
  }
  journal.close();
});

it('keeps what is not booked when it is written anew, and goes on', async () => {
  const path = join(directory, 'own.calls');
  const journal = createJournalFile(path, logger, 1);
  const billing = givenBilling();
  const lease = givenLease(journal, 'lease-1');
  serve(lease, 2);
  billing.isLost = true;
  await expect(lease.settle(billing.client)).rejects.toMatchObject({ kind: 'unavailable' });
  serve(lease, 3);
  const lines = readFileSync(path, 'utf8').split('\n').length;
  journal.tidy();
  expect(readFileSync(path, 'utf8').split('\n').length).toBeLessThan(lines);
  serve(lease, 1);
  const reports = [
    [1, ['domains 2']],
    [2, ['domains 4']],
  ];
  expect(callsIn(path)).toEqual([{ id: 'lease-1', accountId: 7, reports }]);
  journal.close();
});

it('reports what a dead gateway had served, each report as it was, and gives back the rest', async () => {
  const billing = givenBilling();
  await givenDeadGateway(async (journal) => {
    const lease = givenLease(journal, 'lease-1');
    serve(lease, 3);
    await lease.settle(billing.client);
    serve(lease, 4);
    billing.isLost = true;
    await expect(lease.settle(billing.client)).rejects.toMatchObject({ kind: 'unavailable' });
    billing.isLost = false;
    serve(lease, 5);
    givenLease(journal, 'lease-2', 8);
  });
  await startJournal(billing.client);
  await eventually(() => expect(billing.booked.filter(({ release }) => release)).toHaveLength(2));
  const of = (id: string) => billing.booked.filter(({ lease }) => lease === id);
  expect(of('lease-1').map(({ sequence, calls, account }) => [account, sequence, calls])).toEqual([
    [7, 1, 3],
    [7, 2, 4],
    [7, 3, 5],
    [7, 2_147_483_647, 0],
  ]);
  expect(of('lease-2').map(({ calls, account }) => [account, calls])).toEqual([[8, 0]]);
});

it('reports it when billing is back, and once when two gateways take over', async () => {
  const billing = givenBilling();
  const path = await givenDeadGateway((journal) => serve(givenLease(journal, 'lease-1'), 3));
  billing.isAway = true;
  await startJournal(billing.client);
  await startJournal(billing.client);
  await eventually(() => expect(existsSync(path)).toBe(false));
  expect(billing.booked).toEqual([]);
  billing.isAway = false;
  await eventually(() => expect(readdirSync(directory).filter((name) => name.split('.').length > 2)).toEqual([]));
  expect(billing.booked.map(({ calls }) => calls)).toEqual([3, 0]);
});

it('takes over what a gateway died with while it was taking over', async () => {
  const billing = givenBilling();
  await givenDeadGateway((journal) => serve(givenLease(journal, 'lease-1'), 3));
  const dying = await enterJournalFolder(directory);
  expect(await dying.claim()).toHaveLength(1);
  await dying.leave();
  await startJournal(billing.client);
  await eventually(() => expect(billing.booked.map(({ calls }) => calls)).toEqual([3, 0]));
});

it('leaves the journal of a gateway that lives alone', async () => {
  const living = await enterJournalFolder(directory);
  const journal = createJournalFile(living.path, logger);
  serve(givenLease(journal, 'lease-1'), 3);
  const other = await enterJournalFolder(directory);
  expect(await other.claim()).toEqual([]);
  expect(callsIn(living.path)).toHaveLength(1);
  journal.close();
  await living.leave();
  expect(await other.claim()).toHaveLength(1);
  await other.leave();
});

it('books nothing that billing may have forgotten to have booked', async () => {
  const billing = givenBilling();
  const path = await givenDeadGateway((journal) => serve(givenLease(journal, 'lease-1'), 3));
  const threeDaysAgo = Date.now() / 1000 - 3 * 86_400;
  utimesSync(path, threeDaysAgo, threeDaysAgo);
  await startJournal(billing.client);
  await eventually(() => expect(readdirSync(directory).filter((name) => name.endsWith('.calls'))).toHaveLength(1));
  expect(billing.booked).toEqual([]);
});

it('says when the folder is too deep for a socket', async () => {
  await expect(enterJournalFolder(join(directory, 'x'.repeat(120)))).rejects.toThrow(/GATEWAY_JOURNAL_DIRECTORY/);
});
