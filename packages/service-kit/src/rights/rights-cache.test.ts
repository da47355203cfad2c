// Every answer of identity is held back until the test lets it go, so each order of question,
// change and event is made on purpose.
import { randomUUID } from 'node:crypto';
import { notFound, ServiceError } from '../errors.ts';
import { readMessage } from '../messaging/bus/received-message.ts';
import type { RpcCaller } from '../rpc/contract.ts';
import { allows, type HeldRights } from './rights.ts';
import { createRightsCache, invalidateOnEvents } from './rights-cache.ts';

type Answer = {
  user_id: number;
  license_type: string;
  permissions: [];
  revision: number;
  private_branch_ids: [];
};
type Question = { caller: RpcCaller; userId: number; answer(revision: number): void; fail(error: unknown): void };

const ada = { accountId: 7, userId: 9 };
const bob = { accountId: 7, userId: 10 };
const otherAccount = { accountId: 8, userId: 11 };

function given({ isReceivingEvents = (): boolean => true } = {}) {
  const questions: Question[] = [];
  const clock = { ms: 1_000 };
  const rights = createRightsCache(
    {
      GetEffectivePermissions: (caller, { user_id: userId = 0 }) =>
        new Promise<Answer>((resolve, reject) =>
          questions.push({
            caller,
            userId,
            answer: (revision) =>
              resolve({
                user_id: userId,
                license_type: 'developer',
                permissions: [],
                revision,
                private_branch_ids: [],
              }),
            fail: reject,
          }),
        ),
    },
    { isReceivingEvents, now: () => clock.ms },
  );
  const question = (number: number) => questions[number] as Question;
  return { rights, questions, question, clock };
}

/** Lets everything run that waits for nothing but its turn. */
const settle = () => new Promise((resolve) => setImmediate(resolve));
const revisionOf = async (asked: Promise<HeldRights>) => (await asked).revision;

describe('cached rights', () => {
  it('are asked for once per user, however many want them at the same moment', async () => {
    const { rights, questions, question } = given();
    const waiting = [rights.get(ada), rights.get(ada), rights.get(bob)];
    expect(questions.map(({ userId }) => userId)).toEqual([9, 10]);
    question(0).answer(4);
    question(1).answer(4);
    await Promise.all(waiting);
    expect(await revisionOf(rights.get(ada))).toBe(4);
    expect(questions).toHaveLength(2);
  });

  it('are fetched without the deadline of the first caller, unless that caller alone gets the answer', async () => {
    const { rights, question } = given();
    const waiting = [rights.get({ ...ada, answerBy: 1 }), rights.get({ ...ada, answerBy: 1 }, { fresh: true })];
    expect([question(0).caller.answerBy, question(1).caller.answerBy]).toEqual([undefined, 1]);
    for (const number of [0, 1]) question(number).answer(4);
    await Promise.all(waiting);
  });

  it('are invalidated for one user, or for all of an account', async () => {
    const { rights, questions, question } = given();
    const everyone = [ada, bob, otherAccount];
    const askAll = async (revision: number) => {
      const before = questions.length;
      const waiting = everyone.map((who) => rights.get(who));
      const asked = questions.slice(before).map(({ userId }) => userId);
      for (let number = before; number < questions.length; number++) question(number).answer(revision);
      await Promise.all(waiting);
      return asked;
    };
    expect(await askAll(1)).toEqual([9, 10, 11]);
    expect(await askAll(1)).toEqual([]);
    rights.invalidate(7, 9, 2);
    expect(await askAll(2)).toEqual([9]);
    rights.invalidate(7, null, 3);
    expect(await askAll(3)).toEqual([9, 10]);
    rights.invalidateAll();
    expect(await askAll(3)).toEqual([9, 10, 11]);
  });

  it('that were asked for before a change are asked for again when the event overtakes the answer', async () => {
    const { rights, questions, question } = given();
    const early = rights.get(ada);
    rights.invalidate(7, 9, 5);
    const late = rights.get(ada);
    expect(questions).toHaveLength(2);
    question(1).answer(5);
    expect(await revisionOf(late)).toBe(5);
    question(0).answer(4); // computed before the change
    await settle();
    expect(questions).toHaveLength(3);
    question(2).answer(5);
    expect(await revisionOf(early)).toBe(5);
    expect(await revisionOf(rights.get(ada))).toBe(5);
    expect(questions).toHaveLength(3);
  });

  it('are never overwritten by an answer of an older revision that comes later', async () => {
    const { rights, question } = given();
    const [first, second] = [rights.get(ada), rights.get(ada, { fresh: true })];
    question(1).answer(6);
    expect(await revisionOf(second)).toBe(6);
    question(0).answer(5);
    expect(await revisionOf(first)).toBe(5);
    expect(await revisionOf(rights.get(ada))).toBe(6);
  });

  it('stay when an event comes late, and tells of what they hold already', async () => {
    const { rights, questions, question } = given();
    const asked = rights.get(ada);
    question(0).answer(6);
    await asked;
    rights.invalidate(7, 9, 6);
    rights.invalidate(7, null, 5);
    expect(await revisionOf(rights.get(ada))).toBe(6);
    expect(questions).toHaveLength(1);
    rights.invalidate(7, 9, undefined); // of an identity that tells no revisions
    void rights.get(ada);
    expect(questions).toHaveLength(2);
  });

  it('do not stop a request for ever, however many changes come while it waits', async () => {
    const { rights, questions, question } = given();
    const asked = rights.get(ada);
    for (let number = 0; number < 3; number++) {
      rights.invalidate(7, 9, 10 + number);
      question(number).answer(5);
      await settle();
    }
    expect(await revisionOf(asked)).toBe(5);
    void rights.get(ada); // but no other caller gets that answer
    expect(questions).toHaveLength(4);
  });

  it('that must be fresh are fetched although they are cached, and cached then', async () => {
    const { rights, questions, question } = given();
    const asked = rights.get(ada);
    question(0).answer(1);
    await asked;
    const fresh = rights.get(ada, { fresh: true });
    expect(questions).toHaveLength(2);
    question(1).answer(2);
    expect(await revisionOf(fresh)).toBe(2);
    expect(await revisionOf(rights.get(ada))).toBe(2);
  });

  it('live for half a minute from the request on, and for a second while no events arrive', async () => {
    let hearing = true;
    const { rights, questions, question, clock } = given({ isReceivingEvents: () => hearing });
    const asked = rights.get(ada);
    clock.ms += 500;
    question(0).answer(1);
    await asked;
    clock.ms += 29_499;
    await rights.get(ada);
    expect(questions).toHaveLength(1);
    hearing = false;
    void rights.get(ada);
    expect(questions).toHaveLength(2);
    question(1).answer(1);
    await settle();
    clock.ms += 999;
    await rights.get(ada);
    expect(questions).toHaveLength(2);
    clock.ms += 1;
    void rights.get(ada);
    expect(questions).toHaveLength(3);
    question(2).answer(1);
    await settle();
    hearing = true;
    clock.ms += 30_000;
    void rights.get(ada);
    expect(questions).toHaveLength(4);
  });

  it('are no memory of a failure', async () => {
    const { rights, questions, question } = given();
    const asked = rights.get(ada);
    question(0).fail(new ServiceError('unavailable', 'away'));
    await expect(asked).rejects.toThrow('away');
    const again = rights.get(ada);
    question(1).answer(1);
    await again;
    expect(questions).toHaveLength(2);
  });

  it('of a deleted user are the 401 of the contract, also when they were cached', async () => {
    const { rights, questions, question } = given();
    const asked = rights.get(ada);
    question(0).answer(1);
    await asked;
    const fresh = rights.get(ada, { fresh: true });
    question(1).fail(notFound('User'));
    await expect(fresh).rejects.toMatchObject({ status: 401, label: 'Invalid resource owner' });
    void rights.get(ada);
    expect(questions).toHaveLength(3);
  });

  it('hear events: of one user, of all, and that some may have been missed', async () => {
    const { rights, questions, question } = given();
    let hear: (payload: Record<string, unknown>) => Promise<void> = async () => {};
    let connected: () => unknown = () => {};
    await invalidateOnEvents(
      {
        subscribe: async (payloads, handler, options) => {
          expect(Object.keys(payloads)).toEqual(['identity.permission.changed']);
          hear = async (payload) => {
            const message = { v: 1, id: randomUUID(), occurred_at: new Date().toISOString(), payload };
            const read = readMessage(payloads, { ...message, type: 'identity.permission.changed' });
            await handler(read as Parameters<typeof handler>[0]);
          };
          connected = options?.onConnected ?? connected;
        },
      },
      rights,
    );
    const occasions = [
      () => hear({ account_id: 7, user_id: 9, revision: 2 }),
      () => hear({ account_id: 7, user_id: null, revision: 3 }),
      () => hear({ account_id: 7, user_id: 9 }),
      () => connected(),
    ];
    for (const [number, occasion] of [() => {}, ...occasions].entries()) {
      await occasion();
      const asked = rights.get(ada);
      expect(questions).toHaveLength(number + 1);
      question(number).answer(number);
      expect(allows(await asked, 'view', {})).toBe(false);
    }
  });
});
