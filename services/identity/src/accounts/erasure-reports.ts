// What the services report of an erased account, and the receipt that is made of it when all have
// reported.
import { createHash } from 'node:crypto';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { type MessageOf, messageId, samePayload } from '@almanac/service-kit/messaging/bus/received-message';
import { erasedType } from '@almanac/service-kit/process/account-erasure';
import { z } from 'zod';
import type { IdentityContext } from '../context.ts';
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { databaseNow, type Transaction, transact } from '../transaction.ts';

/** The services that hold something of an account. */
const services = ['identity', 'metadata', 'data', 'jobs', 'billing'];

const payloads = samePayload(
  services.map(erasedType),
  z.object({
    account_id: messageId,
    counts: z.record(z.string(), z.int().min(0)),
    facts: z.record(z.string(), z.unknown()).default({}),
  }),
);

/** Consumes the reports while the bus runs. */
export function consumeErasureReports(ctx: IdentityContext, bus: Bus): Promise<void> {
  return bus.consume('identity.erasure_reports', payloads, (message) => receive(ctx, message));
}

// A service may report again; its first report counts.
async function receive(ctx: IdentityContext, { type, payload }: MessageOf<typeof payloads>): Promise<void> {
  const { account_id, counts, facts } = payload;
  const [service] = type.split('.') as [string];
  await transact(ctx, async (tx) => {
    const deletion = await lockErasing(tx, account_id);
    if (!deletion) return;
    const report = { account_id, service, counts, facts: facts as Prisma.InputJsonObject };
    await tx.erasure_report.createMany({ data: [report], skipDuplicates: true });
    await finish(ctx, tx, deletion);
  });
}

/** Makes the receipts of deletions that all services have reported. */
export async function finishDeletions(ctx: IdentityContext): Promise<void> {
  const erasing = await ctx.prisma.account_deletion.findMany({ where: { status: 'erasing' } });
  for (const { account_id } of erasing)
    await transact(ctx, async (tx) => {
      const deletion = await lockErasing(tx, account_id);
      if (deletion) await finish(ctx, tx, deletion);
    });
}

/** The services that have not reported yet. */
export async function findWaitingFor(db: Pick<PrismaClient, 'erasure_report'>, accountId: number): Promise<string[]> {
  const reports = await db.erasure_report.findMany({ where: { account_id: accountId }, select: { service: true } });
  return services.filter((service) => !reports.some((report) => report.service === service));
}

type Erasing = { account_id: number; name: string; requested_by: string; closed_at: Date; erase_after: Date };

async function lockErasing(tx: Transaction, accountId: number): Promise<Erasing | undefined> {
  const [deletion] = await tx.$queryRaw<Erasing[]>`
    select account_id, name, requested_by, closed_at, erase_after from account_deletion
    where account_id = ${accountId} and status = 'erasing' for update`;
  return deletion;
}

async function finish(ctx: IdentityContext, tx: Transaction, deletion: Erasing): Promise<void> {
  const { account_id } = deletion;
  const reports = await tx.erasure_report.findMany({ where: { account_id } });
  if (services.some((service) => !reports.some((report) => report.service === service))) return;
  const erased_at = await databaseNow(tx);
  const ofServices = (pick: (report: (typeof reports)[number]) => unknown) =>
    Object.fromEntries(
      services.map((service) => [
        service,
        pick(reports.find((each) => each.service === service) as (typeof reports)[number]),
      ]),
    );
  const facts = {
    account_id,
    name: deletion.name,
    requested_by: deletion.requested_by,
    closed_at: deletion.closed_at.toISOString(),
    erase_after: deletion.erase_after.toISOString(),
    erased_at: erased_at.toISOString(),
    removed: ofServices(({ counts }) => counts),
    kept: Object.fromEntries(Object.entries(ofServices((report) => report.facts)).filter(([, of]) => isFilled(of))),
  };
  const receipt = JSON.stringify({ ...facts, digest: digestOf(facts) });
  await tx.account_deletion.update({ where: { account_id }, data: { status: 'erased', erased_at, receipt } });
  await tx.erasure_report.deleteMany({ where: { account_id } });
  ctx.logger.warn({ account_id }, 'the account was erased by all services');
}

const isFilled = (value: unknown) => Object.keys(value as object).length > 0;

/** The SHA-256 of a receipt without its digest, as `jq -cS` writes it: sorted, without spaces. */
export function digestOf(receipt: object): string {
  return `sha256:${createHash('sha256')
    .update(JSON.stringify(sorted(receipt)))
    .digest('hex')}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return Object.fromEntries(members.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
