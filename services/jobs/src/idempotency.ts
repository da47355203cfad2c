// Idempotency-Key: the same POST sent twice within a day makes one thing (design 3.9).
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { CallContext } from '@almanac/service-kit/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Transaction } from './transaction.ts';

export const keptForMs = 24 * 3_600_000;

/** The request's Idempotency-Key, if it has one; a malformed one is 400. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw new ServiceError('bad_request', 'Idempotency-Key must be 1 to 255 printable ASCII characters.');
}

type Request = { operation: string; key: string | undefined; input: unknown };

/**
 * Runs `create` unless the same caller has sent the same key before; answers the id of what was made, now or then. The same
 * key with another request is 422. Two at once: the second waits for the first.
 */
export async function makeOnce(
  tx: Transaction,
  call: CallContext,
  { operation, key, input }: Request,
  create: () => Promise<number>,
): Promise<number> {
  if (key === undefined) return create();
  const caller = call.userId === undefined ? `application:${call.applicationId ?? 0}` : `user:${call.userId}`;
  const id = { account_id: call.accountId, operation, caller, key };
  const request_hash = createHash('sha256').update(JSON.stringify(input)).digest('hex');
  await tx.idempotency_key.deleteMany({ where: { ...id, created_at: { lt: new Date(Date.now() - keptForMs) } } });
  const { count } = await tx.idempotency_key.createMany({
    data: { ...id, request_hash, resource_id: 0 },
    skipDuplicates: true,
  });
  if (count === 1) {
    const resource_id = await create();
    await tx.idempotency_key.updateMany({ where: id, data: { resource_id } });
    return resource_id;
  }
  const made = await tx.idempotency_key.findFirstOrThrow({ where: id });
  if (made.request_hash === request_hash) return made.resource_id;
  throw new ServiceError('validation_failed', 'The Idempotency-Key was used for another request.');
}
