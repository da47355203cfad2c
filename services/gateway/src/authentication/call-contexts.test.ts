import { contextFor, findContext } from './call-contexts.ts';
import { limitToken, readClaims } from './token.ts';

const given = () => {
  const now = Math.floor(Date.now() / 1000);
  const claims = { jti: 'j', client_id: 'c', account_id: 1, scope: 'api', iat: now, exp: now + 60 };
  return readClaims(claims);
};

describe('contextFor', () => {
  it('signs once for many calls, and again when the features of the plan change', async () => {
    const token = given();
    let signed = 0;
    const sign = async () => `context ${++signed}`;
    expect(await contextFor(token, { branching: true }, 'data', sign)).toBe('context 1');
    expect(await contextFor(token, { branching: true }, 'data', sign)).toBe('context 1');
    expect(await contextFor(token, { branching: false }, 'data', sign)).toBe('context 2');
    const more = { branching: false, storageBytes: 1_000 };
    expect(await contextFor(token, more, 'data', sign)).toBe('context 3');
    expect(await contextFor(token, more, 'data', sign)).toBe('context 3');
    expect(await contextFor(token, { ...more, storageBytes: 2_000 }, 'data', sign)).toBe('context 4');
  });

  it('is for one service, and cached for each', async () => {
    const token = given();
    let signed = 0;
    const sign = async (_claims: unknown, to?: string) => `${to} ${++signed}`;
    for (const service of ['data', 'jobs', 'data', 'jobs'])
      expect(await contextFor(token, { branching: true }, service, sign)).toBe(
        `${service}:http ${service === 'data' ? 1 : 2}`,
      );
  });

  it('is not reused when the scopes of the token were limited while it was being signed', async () => {
    const token = given();
    let finish = (_text: string) => {};
    const signing = contextFor(token, { branching: true }, 'data', ({ scopes }) => {
      expect(scopes).toEqual(['api']);
      return new Promise((resolve) => {
        finish = resolve;
      });
    });
    limitToken(token, ['api:read']);
    finish('too much');
    expect(await signing).toBe('too much'); // for the call that began before the change, not for later ones
    expect(findContext(token, { branching: true }, 'data')).toBeUndefined();
    expect(await contextFor(token, { branching: true }, 'data', async ({ scopes }) => scopes.join())).toBe('api:read');
  });

  it('is reused when a change of the application leaves the scopes of the token as they were', async () => {
    const token = given();
    await contextFor(token, { branching: true }, 'data', async () => 'kept');
    limitToken(token, ['api']);
    expect(findContext(token, { branching: true }, 'data')).toBe('kept');
  });
});
