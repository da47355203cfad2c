import { type Api, poll } from '@almanac/api-client/api';
import { type Account, givenAccount } from '@almanac/testkit/builders';
import { type Progress, steps } from './main-job.ts';

describe('the main job', () => {
  const progress = {} as Progress;
  let account: Account;
  let api: Api;
  let calls = 0;

  beforeAll(async () => {
    account = await givenAccount({ plan: 'business' });
  });

  it('signs in through the authorization code flow', async () => {
    const signedIn = await account.person();
    api = counting(signedIn, () => {
      calls += 1;
    });
    expect(signedIn.token.split('.')).toHaveLength(3);
  });

  for (const { name, run } of steps) it(name, () => run(api, progress));

  it('finds its own calls counted exactly in GET /account', async () => {
    const before = calls;
    const { usage } = await poll(
      () => api.get('/account'),
      (answer) => answer.usage.calls >= calls - 1,
    );
    // The count that an answer shows may or may not hold the very call that asks for it; nothing else is uncertain.
    expect([calls - 1, calls]).toContain(usage.calls);
    expect(usage).toMatchObject({ allowance: 45_000, overage_calls: 0 });
    expect(calls - before).toBeLessThan(20);
  });
});

/** Tells of every call that is sent. */
function counting(api: Api, count: () => void): Api {
  const counted =
    <A extends unknown[], R>(send: (...args: A) => R) =>
    (...args: A): R => {
      count();
      return send(...args);
    };
  return {
    ...api,
    send: counted(api.send) as Api['send'],
    get: counted(api.get) as Api['get'],
    post: counted(api.post) as Api['post'],
    patch: counted(api.patch) as Api['patch'],
    delete: counted(api.delete),
  };
}
