// `keys rotate` on the operators' command line: new tokens are valid at once, old ones until they
// expire.
import { signInMachine } from '@almanac/api-client/sign-in';
import { eventually } from '@almanac/testkit/eventually';
import { type Account, baseUrl, givenAccount } from '@almanac/testkit/system/builders';
import { admin } from '@almanac/testkit/system/system';

describe('keys rotate', () => {
  let account: Account;

  beforeAll(async () => {
    account = await givenAccount();
  });

  const newToken = async () => (await signInMachine(baseUrl(), account.application, 'api:read')).access_token;
  const statusOf = async (token: string) =>
    (await fetch(`${baseUrl()}/api/v1/account`, { headers: { Authorization: `Bearer ${token}` } })).status;
  const kidOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[0] as string, 'base64url').toString()).kid as string;
  const published = async () => {
    const answer = await fetch(`${baseUrl()}/.well-known/jwks.json`);
    return ((await answer.json()) as { keys: Record<string, string>[] }).keys;
  };

  it('signs with the key published beforehand, each time it runs, and every token stays valid', async () => {
    const tokens = [await newToken()];
    for (const _time of [1, 2, 3]) {
      const known = (await published()).map(({ kid }) => kid);
      const { kid } = await admin<{ kid: string }>(['keys', 'rotate']);
      expect(known).toContain(kid);
      // Another instance may sign with the previous key for some seconds; both are accepted.
      const token = await eventually(
        async () => {
          const fresh = await newToken();
          expect(await statusOf(fresh)).toBe(200);
          expect(kidOf(fresh)).toBe(kid);
          return fresh;
        },
        { withinMs: 60_000 },
      );
      tokens.push(token);
    }
    expect(new Set(tokens.map(kidOf)).size).toBe(4);
    for (const token of tokens) expect(await statusOf(token)).toBe(200);
    const keys = await published();
    expect(keys.map(({ kid }) => kid)).toEqual(expect.arrayContaining(tokens.map(kidOf)));
    for (const key of keys) expect(Object.keys(key).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  });
});
