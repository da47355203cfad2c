// What identity's database holds over time: signing keys that can be decrypted, and nothing
// expired.
import { randomBytes } from 'node:crypto';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { createPool } from '@almanac/service-kit/postgres/database';
import type { TestDatabase } from '@almanac/testkit/postgres/postgres';
import { createServiceDatabase } from '@almanac/testkit/postgres/service-database';
import { sweep } from '../src/housekeeping.ts';
import { createSigningKeys } from '../src/tokens/signing-keys.ts';
import { createPrisma } from '../src/transaction.ts';

describe('the database', () => {
  let database: TestDatabase;
  let pool: ReturnType<typeof createPool>;
  let prisma: ReturnType<typeof createPrisma>;
  const encryptionKey = randomBytes(32);
  const keys = (key = encryptionKey, previousEncryptionKey?: Buffer) =>
    createSigningKeys({ prisma, encryptionKey: key, previousEncryptionKey, accessTokenSeconds: 7_200 });

  beforeAll(async () => {
    database = await createServiceDatabase('identity');
    const logger = createLogger('identity', 'silent');
    pool = createPool({ url: database.url, name: 'identity-test', logger });
    prisma = createPrisma(pool);
  });
  afterAll(async () => {
    await prisma.$disconnect();
    await pool.end();
    await database.drop();
  });

  it('holds one current and one next key, however many instances start at once', async () => {
    await Promise.all(Array.from({ length: 5 }, () => keys().start()));
    const kept = await prisma.signing_key.findMany();
    expect(kept.map(({ activated_at }) => activated_at === null).toSorted()).toEqual([false, true]);
  });

  it('can’t be used with another key-encryption key, and the error says so', async () => {
    await expect(keys(randomBytes(32)).start()).rejects.toThrow(/IDENTITY_KEY_ENCRYPTION_KEY/);
  });

  it('holds keys encrypted with the current key-encryption key, also those that the previous one had encrypted', async () => {
    const [next, last] = [randomBytes(32), randomBytes(32)];
    const kids = async () => (await keys().publicKeys()).keys.map(({ kid }) => kid);
    const before = await kids();
    // An instance that knows both decrypts with either, so all can get the new one before any
    // encrypts with it.
    await keys(encryptionKey, next).start();
    await keys().start();
    await keys(next, encryptionKey).start();
    await expect(keys().start()).rejects.toThrow(/IDENTITY_KEY_ENCRYPTION_KEY/);
    await keys(encryptionKey, next).sign({}, 'at+jwt');
    await keys(next).start();
    await expect(keys(last, encryptionKey).start()).rejects.toThrow(/IDENTITY_KEY_ENCRYPTION_KEY/);
    await keys(encryptionKey, next).start();
    await keys().start();
    expect(await kids()).toEqual(before);
  });

  it('verifies tokens that another instance has signed with a key created a moment ago', async () => {
    const [here, there] = [keys(), keys()];
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: 'i', aud: 'a', sub: 's', jti: 'j', iat: now, exp: now + 7_200 };
    await here.start();
    for (const _time of [1, 2, 3]) await there.rotate();
    const token = await there.sign(claims, 'at+jwt');
    const expected = { issuer: 'i', audience: 'a', typ: 'at+jwt', now: new Date() };
    expect(await here.verify(token, expected)).toMatchObject({ sub: 's' });
    expect(await here.publicKeys()).toEqual(await there.publicKeys());
  });

  it('verifies with a replaced key until its tokens have expired, then no more', async () => {
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

  it('loses rows when they have expired, and not before', async () => {
    const { id: account_id } = await prisma.account.create({ data: { name: 'A' } });
    const user = await prisma.user.create({ data: { account_id, email: 'a@b.c', email_key: 'a@b.c' } });
    const application = await prisma.oauth_application.create({
      data: { account_id, name: 'A', client_id: 'c', scopes: 'api' },
    });
    const past = new Date(Date.now() - 7_201_000);
    const future = new Date(Date.now() + 3_600_000);
    const own = { user_id: user.id, application_id: application.id };
    const digest = () => new Uint8Array(randomBytes(32));
    for (const expires_at of [past, future]) {
      const id = crypto.randomUUID();
      await prisma.token_family.create({ data: { ...own, id, account_id, scope: 'api', expires_at } });
      // Both codes have expired; that of the valid family must stay, so that a replay is detected.
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
    const late = new Date(Date.now() - 7_000_000); // an access token of this family may still be valid
    const id = crypto.randomUUID();
    await prisma.token_family.create({ data: { ...own, id, account_id, scope: 'api', expires_at: late } });
    // Of service users: the end that was chosen counts, not the time since a log-in.
    for (const ends_at of [past, future]) {
      const family = { ...own, id: crypto.randomUUID(), account_id, scope: 'api' };
      await prisma.token_family.create({
        data: { ...family, created_at: new Date(0), expires_at: ends_at, ends_at },
      });
    }
    await prisma.rate_limit.create({ data: { key: 'old', expire: BigInt(Date.now() - 7_200_000) } });
    await prisma.rate_limit.create({ data: { key: 'new', expire: BigInt(Date.now() + 60_000) } });
    await prisma.signing_key.updateMany({ where: { retired_at: { not: null } }, data: { retired_at: new Date(0) } });
    await sweep(prisma, { accessTokenSeconds: 7_200, grantSeconds: 7_776_000 });
    expect(await prisma.token_family.count()).toBe(3);
    expect(await prisma.authorization_code.count()).toBe(1);
    expect(await prisma.session.count()).toBe(1);
    expect(await prisma.revocation.count()).toBe(1);
    expect(await prisma.rate_limit.count()).toBe(1);
    expect(await prisma.signing_key.count()).toBe(2);
  });
});
