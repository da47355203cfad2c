// What a gateway's journal of calls is written in: lines of words, so that an operator can read one. A line that a killed process
// did not finish has no end and is left out; nothing it tells of was answered.
import type { CallCount } from '@almanac/protos/generated/almanac/billing/v1/CallCount.ts';

export type LeaseName = { id: string; accountId: number };

/** The calls that one report of a lease books. */
export type ServedCalls = { sequence: number; served: CallCount[] };

/** A lease that a gateway held when it ended, and what it had served of it and not heard to be booked. */
export type LeftLease = LeaseName & { reports: ServedCalls[] };

export const openedLine = ({ id, accountId }: LeaseName): Buffer => line('opened', id, accountId);

/** `count` belongs to the report with this sequence. */
export const countedLine = ({ id }: LeaseName, sequence: number, count: CallCount): Buffer =>
  line('counted', id, sequence, count.calls, count.day, count.method, count.resource, count.application_id);

export const bookedLine = ({ id }: LeaseName, sequence: number): Buffer => line('booked', id, sequence);

export const endedLine = ({ id }: LeaseName): Buffer => line('ended', id);

const line = (...words: unknown[]) => Buffer.from(`${words.join(' ')}\n`);

type Lease = { accountId: number; reports: Map<number, Map<string, CallCount & { calls: number }>> };

/** Reads what a gateway left. What is no line of a journal is passed over: the disk may have lost its end. */
export function readJournal(text: string): LeftLease[] {
  const leases = new Map<string, Lease>();
  for (const each of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) readLine(leases, each.split(' '));
  return [...leases].map(([id, { accountId, reports }]) => ({
    id,
    accountId,
    reports: [...reports]
      .sort(([one], [other]) => one - other)
      .map(([sequence, served]) => ({ sequence, served: [...served.values()] })),
  }));
}

function readLine(leases: Map<string, Lease>, [kind, id = '', ...words]: string[]): void {
  if (kind === 'opened') leases.set(id, { accountId: Number(words[0]), reports: new Map() });
  else if (kind === 'counted') addCount(leases.get(id), words);
  else if (kind === 'booked') leases.get(id)?.reports.delete(Number(words[0]));
  else if (kind === 'ended') leases.delete(id);
}

function addCount(lease: Lease | undefined, words: string[]): void {
  const [sequenceText, callsText, day, method, resource, application] = words;
  if (!lease || !day || !method || !resource || words.length !== 6) return;
  const sequence = Number(sequenceText);
  const served = lease.reports.get(sequence) ?? new Map();
  lease.reports.set(sequence, served);
  const key = words.slice(2).join(' ');
  const known = served.get(key);
  if (known) known.calls += Number(callsText);
  else served.set(key, { day, method, resource, application_id: Number(application), calls: Number(callsText) });
}
