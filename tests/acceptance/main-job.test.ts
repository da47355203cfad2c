import { poll } from '@almanac/api-client/api';
import { type Client, createClient } from '@almanac/client';
import { type Account, givenAccount } from '@almanac/testkit/system/builders';
import { type Progress, steps } from '../support/main-job.ts';

describe('the main job', () => {
  const progress = {} as Progress;
  let account: Account;
  let almanac: Client;
  let calls = 0;

  beforeAll(async () => {
    account = await givenAccount({ plan: 'business' });
  });

  it('signs in through the authorization code flow', async () => {
    const signedIn = await account.person();
    almanac = createClient({
      baseUrl: account.baseUrl,
      token: signedIn.token,
      fetch: (request, init) => {
        if (new URL((request as Request).url).pathname.startsWith('/api/v1/')) calls += 1;
        return fetch(request, init);
      },
    });
    expect(signedIn.token.split('.')).toHaveLength(3);
  });

  for (const { name, run } of steps) it(name, () => run(almanac, progress));

  it('finds its own calls counted exactly in GET /account', async () => {
    const before = calls;
    const { usage } = await poll(
      () => almanac.get('/account'),
      (answer) => answer.usage.calls >= calls - 1,
    );
    // The answer's count may or may not include the call that reads it; the rest is exact.
    expect([calls - 1, calls]).toContain(usage.calls);
    expect(usage).toMatchObject({ allowance: 45_000, overage_calls: 0 });
    expect(calls - before).toBeLessThan(20);
  });
});
