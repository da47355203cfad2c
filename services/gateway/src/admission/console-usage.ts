// The calls of the console, by person. They take none of the allowance, so no lease has them: they
// are counted here and reported to billing every second. A report that failed is sent again
// unchanged, so billing books it once.
import { randomUUID } from 'node:crypto';
import type { ConsoleCallCount } from '@almanac/protos/generated/almanac/billing/v1/ConsoleCallCount.ts';
import type { Logger } from '@almanac/service-kit/observability/logger';
import type { Part } from '@almanac/service-kit/process/part';
import { periodic } from '@almanac/service-kit/process/periodic';
import type { RpcClient } from '@almanac/service-kit/rpc/contract';
import type { Token } from '../authentication/token.ts';

type Facts = { method: string; resource: string; status: number };

export type ConsoleUsage = Part & {
  /** Counts a call that was answered; the statuses that don't count are those of the API. */
  count(token: Pick<Token, 'accountId' | 'userId'>, facts: Facts): void;
};

type Options = { billing: Pick<RpcClient<'billing'>, 'CountConsoleCalls'>; logger: Logger };

type Count = ConsoleCallCount & { calls: number };
type Report = { id: string; served: Count[] };

const reportEveryMs = 1_000;
const deadlineMs = 5_000;
/** While billing is away longer, further calls of an account go uncounted. */
const maxCounts = 5_000;

export function createConsoleUsage({ billing, logger }: Options): ConsoleUsage {
  const counts = new Map<number, Map<string, Count>>();
  const pending = new Map<number, Report>();
  let hasFailed = false;

  const nextReport = (accountId: number): Report => {
    const served = [...(counts.get(accountId)?.values() ?? [])];
    counts.delete(accountId);
    return { id: randomUUID(), served };
  };
  const report = async (accountId: number) => {
    const { id, served } = pending.get(accountId) ?? nextReport(accountId);
    pending.set(accountId, { id, served });
    await billing.CountConsoleCalls({ accountId }, { report_id: id, served }, { deadlineMs, waitForReady: false });
    pending.delete(accountId);
  };
  const reportAll = async () => {
    const accounts = new Set([...pending.keys(), ...counts.keys()]);
    const results = await Promise.allSettled([...accounts].map(report));
    const failure = results.find((result) => result.status === 'rejected');
    if (failure && !hasFailed)
      logger.warn({ err: failure.reason }, 'calls of the console could not be reported; it will be repeated');
    hasFailed = failure !== undefined;
  };
  const rounds = periodic({ name: 'console usage', everyMs: reportEveryMs, logger, startsWith: 'pause' }, reportAll);

  return {
    ...rounds,
    count({ accountId, userId = 0 }, { method, resource, status }) {
      if (status >= 500 || status === 429 || status === 402) return;
      const ofAccount = counts.get(accountId) ?? new Map<string, Count>();
      counts.set(accountId, ofAccount);
      const key = `${userId} ${method} ${resource}`;
      const count = ofAccount.get(key);
      if (count) count.calls += 1;
      else if (ofAccount.size < maxCounts) ofAccount.set(key, { user_id: userId, method, resource, calls: 1 });
    },
    async stop() {
      await rounds.stop();
      await reportAll(); // the rest; what an earlier report left over is lost when it fails again
      if (counts.size > 0) await reportAll();
    },
  };
}
