import { ServiceError } from '@almanac/service-kit/errors';
import { createSessions } from './sessions.ts';

const cookies = `almanac_session=${'a'.repeat(43)}`;
const before = new Date(Date.now() - 60_000).toISOString();
const later = new Date(Date.now() + 60_000).toISOString();
const sessionOf = (confirmed_until: string) => ({
  id: 1,
  account_id: 1,
  user_id: 7,
  started_at: before,
  expires_at: later,
  confirmed_until,
});

type Answer = ReturnType<typeof sessionOf>;

/** Sessions of an identity whose answers the test gives. */
function given() {
  const questions: PromiseWithResolvers<Answer>[] = [];
  const ResolveSession = () => {
    const question = Promise.withResolvers<Answer>();
    questions.push(question);
    return question.promise;
  };
  const sessions = createSessions({
    publicUrl: 'http://localhost',
    identity: { ResolveSession } as never,
    revocations: { isReady: () => true, require: () => {} },
  });
  const confirmedUntil = async (options?: { isFresh: boolean }) =>
    (await sessions.resolve(cookies, options)).session?.confirmedUntilMs;
  return { questions, confirmedUntil };
}

const fresh = { isFresh: true };

describe('a fresh answer', () => {
  it.each([
    ['before', [0, 1]],
    ['after', [1, 0]],
  ])('is one that was requested now, and is cached: an earlier one arrives %s it', async (_when, order) => {
    const { questions, confirmedUntil } = given();
    const [first, second] = [confirmedUntil(), confirmedUntil(fresh)];
    expect(questions).toHaveLength(2);
    for (const index of order) {
      questions[index]?.resolve(sessionOf(index === 0 ? before : later));
      await [first, second][index];
    }
    expect([await first, await second]).toEqual([Date.parse(before), Date.parse(later)]);
    expect(await confirmedUntil()).toBe(Date.parse(later));
    expect(questions).toHaveLength(2);
  });

  it('is shared by the calls that come after its question, whatever becomes of an earlier one', async () => {
    const { questions, confirmedUntil } = given();
    const [first, second] = [confirmedUntil(), confirmedUntil(fresh)];
    questions[0]?.reject(new ServiceError('unavailable', 'identity is away'));
    await expect(first).rejects.toMatchObject({ kind: 'unavailable' });
    const third = confirmedUntil();
    questions[1]?.resolve(sessionOf(later));
    expect([await second, await third]).toEqual([Date.parse(later), Date.parse(later)]);
    expect(questions).toHaveLength(2);
  });
});
