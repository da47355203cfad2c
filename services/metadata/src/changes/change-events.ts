// The events of changes, for subscribers, and their entries in the audit log.
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import { announce, recordAct, type Transaction } from '../transaction.ts';
import type { Machine } from './approval-states.ts';

/**
 * Announces a step and records it in the audit log, when the transaction commits. A new change has
 * no status before the step.
 */
export async function announceChange<Change extends { id: number; status?: string }>(
  tx: Transaction,
  caller: RpcCaller,
  { machine, branchIds }: { machine: Machine; branchIds(change: Change): Record<string, number> },
  change: Change,
  step: 'create' | string,
  facts: Record<string, unknown> = {},
): Promise<void> {
  const { noun, states, transitions } = machine;
  const status = step === 'create' ? states[0] : transitions[step]?.to;
  const event = `${noun}.${eventOf(machine, step) ?? status}`;
  const branches = branchIds(change);
  await announce(tx, caller, event, { [`${noun}_id`]: change.id, ...branches, ...facts });
  const { user_id: _actor, ...after } = facts;
  await recordAct(tx, caller, {
    action: event,
    result: step === 'fail' || step === 'refuse' ? 'failed' : 'succeeded',
    resource_type: noun,
    resource_id: change.id,
    ...(change.status === undefined ? {} : { before: { status: change.status } }),
    after: { status, ...branches, ...after },
  });
}

// Other events are named after the state that the step leads to. `.requested` is reserved: an event
// of that name requests work, and the bus keeps it until a service consumes it.
const eventNames: Record<string, string> = {
  create: 'created',
  send_request: 'submitted',
  withdraw: 'withdrawn',
  refuse: 'refused',
};

function eventOf({ apply, transitions }: Machine, step: string): string | undefined {
  const begins = step !== 'create' && transitions[step]?.to === transitions[apply]?.to;
  return begins ? 'begun' : eventNames[step];
}
