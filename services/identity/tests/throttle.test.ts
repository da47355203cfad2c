// Throttling where it counts: many tries at the same moment, over several instances.
import { createPool } from '@almanac/service-kit/database';
import { createLogger } from '@almanac/service-kit/logger';
import type { TestDatabase } from '@almanac/testkit/postgres';
import { createServiceDatabase } from '@almanac/testkit/service-database';
import { createThrottle, type ThrottleKey, throttleRules } from '../src/throttle.ts';

let database: TestDatabase;
let pool: ReturnType<typeof createPool>;

beforeAll(async () => {
  database = await createServiceDatabase('identity');
  const logger = createLogger('identity', 'silent');
  pool = createPool({ url: database.url, name: 'identity-test', logger });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

it('lets no more through of tries at the same moment than of tries one after the other', async () => {
  const instances = [createThrottle(pool), createThrottle(pool)] as const;
  const keys: ThrottleKey[] = [{ rule: 'logInFrom', key: 'somebody' }];
  const waits = await Promise.all(
    Array.from({ length: 100 }, (_, i) => (instances[i % 2] ?? instances[0]).count(keys)),
  );
  expect(waits.filter((wait) => wait === 0)).toHaveLength(throttleRules.logInFrom.tries);
  expect(await instances[0].waitSeconds(keys)).toBeGreaterThan(0);
  await instances[1].succeeded(keys);
  expect(await instances[0].waitSeconds(keys)).toBe(0);
  expect(await instances[0].count(keys)).toBe(0);
});
