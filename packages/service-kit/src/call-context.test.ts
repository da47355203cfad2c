import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import { createContextSigner, createContextVerifier, type Issuer } from './call-context.ts';

const claims = { accountId: 7, userId: 9, applicationId: 3, scopes: ['api:read'], branching: true };

async function keyPair(kid: Issuer): Promise<{ secret: JWK; open: JWK }> {
  const pair = await generateKeyPair('EdDSA', { extractable: true });
  return {
    secret: await exportJWK(pair.privateKey),
    open: { ...(await exportJWK(pair.publicKey)), kid, alg: 'EdDSA' },
  };
}

describe('call context', () => {
  it('carries who calls from signer to verifier, with the request id beside it', async () => {
    const { secret, open } = await keyPair('gateway');
    const verify = createContextVerifier({ keys: [open as Record<string, unknown>] });
    const token = await (await createContextSigner('gateway', secret))(claims);
    expect(await verify(token, 'request-1')).toEqual({ ...claims, issuer: 'gateway', requestId: 'request-1' });
    expect((await verify(token, 'request-2')).requestId).toBe('request-2');
  });

  it('refuses a context that one issuer signed in the name of another', async () => {
    const jobs = await keyPair('jobs');
    const verify = createContextVerifier({ keys: [jobs.open as Record<string, unknown>] });
    const forged = await new SignJWT({ account: 7 })
      .setProtectedHeader({ alg: 'EdDSA', kid: 'jobs', typ: 'ctx+jwt' })
      .setIssuer('gateway')
      .setAudience('almanac-services')
      .setIssuedAt()
      .setExpirationTime('60s')
      .sign(await importJWK(jobs.secret, 'EdDSA'));
    await expect(verify(forged, 'r')).rejects.toMatchObject({ kind: 'unauthenticated' });
  });

  it.each([
    ['an unknown key', async () => (await createContextSigner('gateway', (await keyPair('gateway')).secret))(claims)],
    ['text that is no token', async () => 'x.y.z'],
    ['nothing', async () => ''],
  ])('refuses %s', async (_name, make) => {
    const { open } = await keyPair('gateway');
    const verify = createContextVerifier({ keys: [open as Record<string, unknown>] });
    await expect(verify(await make(), 'r')).rejects.toMatchObject({ kind: 'unauthenticated' });
  });

  it('refuses one that is not signed, by another method, for another audience, or of another kind', async () => {
    const { secret, open } = await keyPair('gateway');
    const key = await importJWK(secret, 'EdDSA');
    const verify = createContextVerifier({ keys: [open as Record<string, unknown>] });
    const context = (changes: { alg?: string; aud?: string; typ?: string } = {}) =>
      new SignJWT({ account: 7 })
        .setProtectedHeader({ alg: changes.alg ?? 'EdDSA', kid: 'gateway', typ: changes.typ ?? 'ctx+jwt' })
        .setIssuer('gateway')
        .setAudience(changes.aud ?? 'almanac-services')
        .setIssuedAt()
        .setExpirationTime('60s');
    const good = await context().sign(key);
    await expect(verify(good, 'r')).resolves.toMatchObject({ accountId: 7 });
    const [, payload, signature] = good.split('.') as [string, string, string];
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const other = encoded({ ...JSON.parse(Buffer.from(payload, 'base64url').toString()), account: 8 });
    const unsigned = encoded({ alg: 'none', kid: 'gateway', typ: 'ctx+jwt' });
    const publicKey = Buffer.from(JSON.stringify(open)); // what everybody knows, as the secret of a shared-secret method
    for (const token of [
      `${unsigned}.${payload}.`,
      `${good.split('.')[0]}.${payload}.`,
      `${good.split('.')[0]}.${other}.${signature}`,
      await context({ aud: 'almanac-gateway' }).sign(key),
      await context({ typ: 'at+jwt' }).sign(key),
      await context({ alg: 'HS256' }).sign(publicKey),
    ])
      await expect(verify(token, 'r')).rejects.toMatchObject({ kind: 'unauthenticated' });
  });

  it('refuses an expired context and one without an account', async () => {
    const { secret, open } = await keyPair('gateway');
    const key = await importJWK(secret, 'EdDSA');
    const verify = createContextVerifier({ keys: [open as Record<string, unknown>] });
    const make = (payload: Record<string, unknown>, exp: number) =>
      new SignJWT(payload)
        .setProtectedHeader({ alg: 'EdDSA', kid: 'gateway', typ: 'ctx+jwt' })
        .setIssuer('gateway')
        .setAudience('almanac-services')
        .setIssuedAt(exp - 60)
        .setExpirationTime(exp)
        .sign(key);
    const now = Math.floor(Date.now() / 1000);
    await expect(verify(await make({ account: 7 }, now - 31), 'r')).rejects.toMatchObject({ kind: 'unauthenticated' });
    await expect(verify(await make({}, now + 60), 'r')).rejects.toMatchObject({ kind: 'unauthenticated' });
    await expect(verify(await make({ account: '7' }, now + 60), 'r')).rejects.toMatchObject({
      kind: 'unauthenticated',
    });
  });
});
