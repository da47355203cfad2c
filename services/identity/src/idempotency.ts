// POSTs with an Idempotency-Key: what one has answered is kept in the transaction of its effect, and given again to the same request.
// Bodies may hold passwords and answers the secrets of applications, so neither can be read, nor guessed, from what is kept.
import { createHmac, hkdfSync } from 'node:crypto';
import { JsonText } from '@almanac/service-kit/api/route';
import type { CallContext, Keyed } from '@almanac/service-kit/caller/call-context';
import { answerOnce, findAnswer } from '@almanac/service-kit/caller/idempotency';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { IdentityContext } from './context.ts';
import { seal, unseal } from './security/sealed-text.ts';
import { type Transaction, transact } from './transaction.ts';

/** The header, for routes that take it. */
export const idempotencyKeyHeader = {
  'Idempotency-Key': 'The same request again, within 24 hours, changes nothing and gets the first one’s answer.',
};

/**
 * What an earlier request with the key was answered: for calls that do something before their transaction. Whoever repeats a request
 * needs the right for it still.
 */
export async function findKeptAnswer(ctx: IdentityContext, { keyed }: CallContext): Promise<JsonText | undefined> {
  if (!keyed) return undefined;
  const kept = await findAnswer(prismaSql(ctx.prisma), hashed(ctx, keyed));
  return kept && shown(ctx, keyed, kept.body);
}

/** The transaction in which a call has its effect; with a key nothing happens unless it is the first. */
export function transactOnce<T>(
  ctx: IdentityContext,
  { keyed }: CallContext,
  work: (tx: Transaction) => Promise<T>,
): Promise<T | JsonText> {
  if (!keyed) return transact(ctx.prisma, work);
  return transact(ctx.prisma, async (tx) => {
    const { body } = await answerOnce(tx.sql, hashed(ctx, keyed), async () => {
      const text = JSON.stringify(await work(tx));
      return { body: Buffer.from(seal(ownKey(ctx, 'answers'), ownerOf(keyed), text)).toString('base64') };
    });
    return shown(ctx, keyed, body);
  });
}

// Under another key-encryption key it is another request's (422): nothing is done twice while that key is replaced.
function hashed(ctx: IdentityContext, { owner, hash }: Keyed): Keyed {
  return { owner, hash: createHmac('sha256', ownKey(ctx, 'requests')).update(hash).digest('hex') };
}

function shown(ctx: IdentityContext, keyed: Keyed, body: string): JsonText {
  const text = unseal(ownKey(ctx, 'answers'), ownerOf(keyed), Buffer.from(body, 'base64'));
  if (text === undefined) throw new Error('A kept answer can not be read: it was sealed for another request.');
  return new JsonText(text);
}

const ownerOf = ({ owner }: Keyed) => JSON.stringify(owner);

const ownKey = ({ config }: IdentityContext, purpose: 'answers' | 'requests') =>
  Buffer.from(hkdfSync('sha256', config.secrets.keyEncryptionKey, '', `almanac identity kept ${purpose}`, 32));
