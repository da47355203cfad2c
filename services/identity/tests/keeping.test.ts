// What identity keeps in its database over time: signing keys that can be decrypted, and nothing that can no longer matter.
import { randomBytes } from 'node:crypto';
import { createPool } from '@almanac/service-kit/database';
import { createLogger } from '@almanac/service-kit/logger';
import { migrate } from '@almanac/service-kit/migrate';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres';
import { createPrisma } from '../src/database.ts';
import { sweep } from '../src/housekeeping.ts';
import { createSigningKeys } from '../src/signing-keys.ts';

describe('what is kept', () => {
  let database: TestDatabase;
  let pool: ReturnType<typeof createPool>;
  let prisma: ReturnType<typeof createPrisma>;
  const encryptionKey = randomBytes(32);
  const keys = (key = encryptionKey) => createSigningKeys({ prisma, encryptionKey: key, accessTokenSeconds: 7_200 });

  beforeAll(async () => {
    database = await createTestDatabase('identity_keeping');
    const logger = createLogger('identity', 'silent');
    await migrate({ databaseUrl: database.url, directory: `${import.meta.dirname}/../prisma/migrations`, logger });
    pool = createPool({ url: database.url, name: 'identity-test', logger });
    prisma = createPrisma(pool);
  });
  afterAll(async () => {
    await prisma.$disconnect();
    await pool.end();
    await database.drop();
  });

  it('is one current and one next key, however many instances start at once', async () => {
    await Promise.all(Array.from({ length: 5 }, () => keys().start()));
    const kept = await prisma.signing_key.findMany();
    expect(kept.map(({ activated_at }) => activated_at === null).toSorted()).toEqual([false, true]);
  });

  it('can not be used with another key-encryption key, and says so', async () => {
    await expect(keys(randomBytes(32)).start()).rejects.toThrow(/IDENTITY_KEY_ENCRYPTION_KEY/);
  });

  it('verifies with a replaced key until its tokens are dead, then no more', async () => {
    const signing = keys();
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: 'i', aud: 'a', sub: 's', jti: 'j', iat: now, exp: now + 7_200 };
    const expected = { issuer: 'i', audience: 'a', typ: 'at+jwt', now: new Date() };
    const token = await signing.sign(claims, 'at+jwt');
    await signing.rotate();
    expect(await signing.verify(token, expected)).toMatchObject({ sub: 's' });
    expect(await signing.verify(token, { ...expected, audience: 'b' })).toBeUndefined();
    expect(await signing.verify('nonsense', expected)).toBeUndefined();
    await prisma.$executeRaw`update signing_key set retired_at = now() - interval '7321 seconds' where retired_at is not null`;
    expect(await keys().verify(token, expected)).toBeUndefined();
    expect((await keys().publicKeys()).keys).toHaveLength(2);
  });

  it('is forgotten when it can no longer matter, and not before', async () => {
    const { id: account_id } = await prisma.account.create({ data: { name: 'A' } });
    const user = await prisma.user.create({ data: { account_id, email: 'a@b.c', email_key: 'a@b.c' } });
    const application = await prisma.oauth_application.create({
      data: { account_id, name: 'A', client_id: 'c', scopes: 'api' },
    });
    const past = new Date(Date.now() - 1_000);
    const future = new Date(Date.now() + 3_600_000);
    const own = { user_id: user.id, application_id: application.id };
    const digest = () => new Uint8Array(randomBytes(32));
    for (const expires_at of [past, future]) {
      const id = crypto.randomUUID();
      await prisma.token_family.create({ data: { ...own, id, account_id, scope: 'api', expires_at } });
      // Both codes are past their minute; the one of the living family must stay, so that a replay is noticed.
      const code = { redirect_uri: 'x', scope: 'api', family_id: id, expires_at: past };
      await prisma.authorization_code.create({ data: { ...own, ...code, digest: digest() } });
      await prisma.session.create({ data: { account_id, user_id: user.id, digest: digest(), expires_at } });
      const revocation = {
        account_id,
        kind: 'token',
        subject: id,
        issued_before: expires_at,
        expires_at,
        reason: 'revoked',
      };
      await prisma.revocation.create({ data: revocation });
    }
    await prisma.rate_limit.create({ data: { key: 'old', expire: BigInt(Date.now() - 7_200_000) } });
    await prisma.rate_limit.create({ data: { key: 'new', expire: BigInt(Date.now() + 60_000) } });
    await prisma.signing_key.updateMany({ where: { retired_at: { not: null } }, data: { retired_at: new Date(0) } });
    await sweep(prisma, 7_200);
    expect(await prisma.token_family.count()).toBe(1);
    expect(await prisma.authorization_code.count()).toBe(1);
    expect(await prisma.session.count()).toBe(1);
    expect(await prisma.revocation.count()).toBe(1);
    expect(await prisma.rate_limit.count()).toBe(1);
    expect(await prisma.signing_key.count()).toBe(2);
  });
});
