// Reports what gateways that died had served: under their leases and sequence numbers, so that nothing is booked twice, and gives
// the rest of these leases back.
import { readFile, rm } from 'node:fs/promises';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Logger } from '@almanac/service-kit/logger';
import type { BillingClient } from './call-lease.ts';
import type { ClaimedJournal } from './journal-folder.ts';
import { type LeftLease, readJournal } from './journal-lines.ts';

type Options = { billing: BillingClient; logger: Logger };

// Billing remembers for three days which reports it has booked.
const tooOldMs = 2 * 86_400_000;
const atOnce = 8;
const settleDeadlineMs = 5_000;
// No gateway gets this far, so it is the last word on a lease whatever had been said before.
const lastSequence = 2_147_483_647;

/** Reports all of a dead gateway's journal and removes it. Throws `unavailable` when billing is away: then it is to be done again. */
export async function reportLeftCalls(journal: ClaimedJournal, { billing, logger }: Options): Promise<void> {
  const leases = readJournal(await readFile(journal.path, 'utf8'));
  const calls = leases.reduce((sum, lease) => sum + callsOf(lease), 0);
  if (Date.now() - journal.lastWrittenAt > tooOldMs)
    logger.error({ calls }, 'a journal of calls is too old to be booked: billing may have forgotten its reports');
  else {
    await reportAll([...leases], { billing, logger });
    if (leases.length > 0) logger.warn({ calls, leases: leases.length }, 'calls of a gateway that died are booked');
  }
  await rm(journal.path, { force: true });
}

const callsOf = ({ reports }: LeftLease) =>
  reports.reduce((sum, { served }) => served.reduce((all, count) => all + Number(count.calls), sum), 0);

async function reportAll(leases: LeftLease[], options: Options): Promise<void> {
  const work = async () => {
    for (let lease = leases.pop(); lease; lease = leases.pop()) await reportLease(lease, options);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

async function reportLease({ id, accountId, reports }: LeftLease, { billing, logger }: Options): Promise<void> {
  try {
    for (const report of [...reports, { sequence: lastSequence, served: [] }])
      await billing.SettleCalls(
        { accountId },
        { lease_id: id, ...report, release: report.sequence === lastSequence, give_back: 0 },
        { deadlineMs: settleDeadlineMs },
      );
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'unavailable') throw error;
    // One account's trouble must not keep the others' calls from the books.
    logger.error(
      { err: error, account_id: accountId, calls: callsOf({ id, accountId, reports }) },
      'calls of a gateway that died could not be booked',
    );
  }
}
