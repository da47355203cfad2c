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
    const token = await (await createContextSigner('gateway', secret))(claims, 'data:http');
    expect(await verify(token, 'request-1')).toEqual({ ...claims, issuer: 'gateway', requestId: 'request-1' });
    expect((await verify(token, 'request-2')).requestId).toBe('request-2');
    const sign = await createContextSigner('gateway', secret);
    for (const storageBytes of [0, 5 * 1024 ** 4])
      expect((await verify(await sign({ ...claims, storageBytes }, 'data:http'), 'r')).storageBytes).toBe(storageBytes);
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
    [
      'an unknown key',
      async () => (await createContextSigner('gateway', (await keyPair('gateway')).secret))(claims, 'data:http'),
    ],
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
    await expect(verify(await make({ account: 7 }, now - 6), 'r')).rejects.toMatchObject({ kind: 'unauthenticated' });
    await expect(verify(await make({}, now + 60), 'r')).rejects.toMatchObject({ kind: 'unauthenticated' });
    await expect(verify(await make({ account: '7' }, now + 60), 'r')).rejects.toMatchObject({
      kind: 'unauthenticated',
    });
  });

  describe('at the port of a service', () => {
    const now = () => Math.floor(Date.now() / 1000);
    type Changes = { iat?: number; exp?: number; aud?: string | string[] };

    async function given(issuer: Issuer = 'gateway') {
      const { secret, open } = await keyPair(issuer);
      const key = await importJWK(secret, 'EdDSA');
      const verify = createContextVerifier({ keys: [open as Record<string, unknown>] }, 'data');
      const sign = await createContextSigner(issuer, secret);
      const made = ({ iat = now(), exp = iat + 60, aud = ['almanac-services', 'data:http'] }: Changes) =>
        new SignJWT({ account: 7 })
          .setProtectedHeader({ alg: 'EdDSA', kid: issuer, typ: 'ctx+jwt' })
          .setIssuer(issuer)
          .setAudience(aud)
          .setIssuedAt(iat)
          .setExpirationTime(exp)
          .sign(key);
      return { verify, sign, made };
    }

    it('holds at the port that it was signed for, and at no other', async () => {
      const { verify, sign } = await given();
      const token = await sign(claims, 'data:http');
      for (let time = 0; time < 2; time += 1) {
        await expect(verify(token, 'r', 'http')).resolves.toMatchObject({ accountId: 7 });
        await expect(verify(token, 'r', 'rpc')).rejects.toMatchObject({ kind: 'unauthenticated' });
      }
      for (const other of ['data:rpc', 'jobs:http', 'jobs:rpc'])
        await expect(verify(await sign(claims, other), 'r', 'http')).rejects.toMatchObject({ kind: 'unauthenticated' });
    });

    it('holds when a second begins while it is signed', async () => {
      const { verify, sign } = await given();
      const Clock = Date;
      let at = Clock.now() - 10_000;
      const later = () => {
        at += 1_000;
        return at;
      };
      globalThis.Date = class extends Clock {
        constructor() {
          super(later());
        }
        static override now = later;
      } as DateConstructor;
      const signing = sign(claims, 'data:http');
      globalThis.Date = Clock;
      const [, payload] = (await signing).split('.') as [string, string];
      const { iat, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString());
      expect(exp - iat).toBe(60);
      await expect(verify(await signing, 'r', 'http')).resolves.toMatchObject({ accountId: 7 });
    });

    it('has to name its port, beside the audience of all services', async () => {
      const { verify, made } = await given();
      await expect(verify(await made({}), 'r', 'http')).resolves.toMatchObject({ accountId: 7 });
      for (const wrong of [{ aud: ['almanac-services'] }, { aud: ['data:http'] }])
        await expect(verify(await made(wrong), 'r', 'http')).rejects.toMatchObject({ kind: 'unauthenticated' });
    });

    it('comes over HTTP from the gateway alone', async () => {
      const { verify, sign } = await given('jobs');
      await expect(verify(await sign(claims, 'data:rpc'), 'r', 'rpc')).resolves.toMatchObject({ issuer: 'jobs' });
      await expect(verify(await sign(claims, 'data:http'), 'r', 'http')).rejects.toMatchObject({ kind: 'forbidden' });
    });

    it('lives for a minute at most, and neither past its end nor before its beginning', async () => {
      const { verify, made } = await given();
      for (const wrong of [
        { exp: now() + 3_600 },
        { iat: now() - 10, exp: now() + 55 },
        { iat: now() + 90 },
        { iat: now() - 70, exp: now() - 10 },
        { iat: now() + 20, exp: now() + 10 },
      ])
        await expect(verify(await made(wrong), 'r', 'http')).rejects.toMatchObject({ kind: 'unauthenticated' });
      await expect(verify(await made({ iat: now() + 20 }), 'r', 'http')).resolves.toMatchObject({ accountId: 7 });
    });
  });
});
