// Requests with an Idempotency-Key: the answer is stored in the transaction of the effect and
// returned to a repetition of the request. Request bodies may hold passwords and answers may hold
// secrets of applications, so the table stores only an HMAC of the former and the encrypted latter.
import { createHmac, hkdfSync } from 'node:crypto';
import type { CallContext, Keyed } from '@almanac/service-kit/caller/call-context';
import { answerOnce, findAnswer } from '@almanac/service-kit/caller/idempotency';
import { JsonText } from '@almanac/service-kit/http/json-text';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import { seal, unseal } from '@almanac/service-kit/text/sealed-text';
import type { IdentityContext } from './context.ts';
import { type Transaction, transact } from './transaction.ts';

/** Documents the header, for routes that accept it. */
export const idempotencyKeyHeader = {
  'Idempotency-Key': 'The same request again, within 24 hours, changes nothing and gets the first one’s answer.',
};

/**
 * The stored answer to an earlier request with this key, for calls that do something before their
 * transaction. Callers check rights first: a repetition needs the right, too.
 */
export async function findKeptAnswer(ctx: IdentityContext, { keyed }: CallContext): Promise<JsonText | undefined> {
  if (!keyed) return undefined;
  const answer = await findAnswer(prismaSql(ctx.prisma), withHmac(ctx, keyed));
  return answer && decrypt(ctx, keyed, answer.body);
}

/** Runs the transaction of a call; with a key, only the first request runs it. */
export function transactOnce<T>(
  ctx: IdentityContext,
  { keyed }: CallContext,
  work: (tx: Transaction) => Promise<T>,
): Promise<T | JsonText> {
  if (!keyed) return transact(ctx, work);
  return transact(ctx, async (tx) => {
    const { body } = await answerOnce(prismaSql(tx), withHmac(ctx, keyed), async () => {
      const text = JSON.stringify(await work(tx));
      return { body: Buffer.from(seal(deriveKey(ctx, 'answers'), ownerOf(keyed), text)).toString('base64') };
    });
    return decrypt(ctx, keyed, body);
  });
}

// The HMAC changes with the key-encryption key: during its rotation a repetition is refused (422),
// not executed twice.
function withHmac(ctx: IdentityContext, { owner, hash }: Keyed): Keyed {
  return { owner, hash: createHmac('sha256', deriveKey(ctx, 'requests')).update(hash).digest('hex') };
}

function decrypt(ctx: IdentityContext, keyed: Keyed, body: string): JsonText {
  const text = unseal(deriveKey(ctx, 'answers'), ownerOf(keyed), Buffer.from(body, 'base64'));
  if (text === undefined) throw new Error('A stored answer can not be decrypted: it was sealed for another request.');
  return new JsonText(text);
}

const ownerOf = ({ owner }: Keyed) => JSON.stringify(owner);

const deriveKey = ({ config }: IdentityContext, purpose: 'answers' | 'requests') =>
  Buffer.from(hkdfSync('sha256', config.secrets.keyEncryptionKey, '', `almanac identity kept ${purpose}`, 32));
