// The history of a change: each step with its time, its user and the request that it was taken in.
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import { z } from 'zod';
import { noRequester, type Requester, requesterOf } from '../requests/requester.ts';
import type { Transaction } from '../transaction.ts';
import type { Machine, Noun, Outcome } from './approval-states.ts';

type Db = Pick<Transaction, '$queryRawUnsafe' | '$executeRawUnsafe'>;

/** One entry of a history in answers. */
export const historyEntrySchema = z
  .object({
    action: z.string(),
    user: z.int().nullable(),
    comment: z.string().nullable(),
    at: z.iso.datetime(),
    request_id: z.string().nullable().meta({
      description:
        'The `X-Request-Id` of the call that did it; of `succeed` and `fail` that of the call that began it, also when another one finished it: histories and the audit log name the same.',
    }),
  })
  .meta({ id: 'ChangeAction', description: 'A step that was taken.' });
/** The time is a Date until the answer is written. */
export type HistoryEntry = Omit<z.infer<typeof historyEntrySchema>, 'at'> & { at: Date };

/**
 * Records a step. What the service itself does, such as an outcome (`succeed`, `fail`), has no
 * user; it belongs to the request that began the attempt.
 */
export async function recordAction<Action extends string>(
  tx: Db,
  { noun, transitions }: Pick<Machine<string, Action>, 'noun' | 'transitions'>,
  id: number,
  action: Action | Outcome,
  caller: RpcCaller,
  comment: string | null,
): Promise<void> {
  const { request_id, ...user } = requesterOf(caller);
  const { user_id, application_id } = transitions[action].by === 'system' ? noRequester : user;
  await prismaSql(tx)(
    `insert into ${noun}_action (${noun}_id, action, user_id, application_id, request_id, comment, at)
     values ($1::int, $2, $3::int, $4::int, $5, $6, clock_timestamp())`,
    [id, action, user_id, application_id, request_id, comment],
  );
}

/** The history of a change, oldest step first. */
export async function listHistory(db: Db, noun: Noun, id: number): Promise<HistoryEntry[]> {
  const { rows } = await prismaSql(db)(
    `select action, user_id as "user", comment, at, request_id from ${noun}_action where ${noun}_id = $1::int order by id`,
    [id],
  );
  return rows as HistoryEntry[];
}

/** Who began the last attempt to apply a change. */
export async function findApplier(db: Db, { noun, apply }: Machine, id: number): Promise<Requester> {
  const { rows } = await prismaSql(db)(
    `select user_id, application_id, request_id from ${noun}_action
     where ${noun}_id = $1::int and action = $2 order by id desc limit 1`,
    [id, apply],
  );
  return (rows[0] as Requester | undefined) ?? noRequester;
}

/** Deletes the entry of an attempt that was reverted. */
export async function deleteApplyAction(tx: Db, { noun, apply }: Machine, id: number): Promise<void> {
  await prismaSql(tx)(
    `delete from ${noun}_action where id =
       (select id from ${noun}_action where ${noun}_id = $1::int and action = $2 order by id desc limit 1)`,
    [id, apply],
  );
}
