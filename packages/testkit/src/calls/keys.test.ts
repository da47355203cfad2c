import { contextHeader, createContextVerifier } from '@almanac/service-kit/caller/call-context';
import { callHeaders } from './call.ts';
import { createTestKeys, issuers } from './keys.ts';

describe('test keys', () => {
  it('make contexts that services accept, for every issuer', async () => {
    const keys = await createTestKeys();
    const verify = createContextVerifier(JSON.parse(keys.env.ALMANAC_CONTEXT_KEYS as string));
    for (const issuer of issuers) {
      const headers = await callHeaders(keys, { accountId: 7, userId: 3 }, issuer);
      const call = await verify(headers[contextHeader] as string, 'r');
      expect(call).toMatchObject({ issuer, accountId: 7, userId: 3, scopes: ['api'], branching: true });
      expect(JSON.parse(keys.env[`${issuer.toUpperCase()}_CONTEXT_KEY`] as string)).toMatchObject({
        kid: issuer,
        crv: 'Ed25519',
      });
    }
  });
});
