// Throttling of many concurrent tries over several instances.

import { createLogger } from '@almanac/service-kit/observability/logger';
import { createPool } from '@almanac/service-kit/postgres/database';
import type { TestDatabase } from '@almanac/testkit/postgres/postgres';
import { createServiceDatabase } from '@almanac/testkit/postgres/service-database';
import { createThrottle, type ThrottleKey, throttleRules } from '../../src/security/throttle.ts';

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

it('admits no more of concurrent tries than of tries one after another', async () => {
  const instances = [createThrottle(pool), createThrottle(pool)] as const;
  const keys: ThrottleKey[] = [{ rule: 'logInFrom', key: 'a user' }];
  const waits = await Promise.all(
    Array.from({ length: 100 }, (_, i) => (instances[i % 2] ?? instances[0]).count(keys)),
  );
  expect(waits.filter((wait) => wait === 0)).toHaveLength(throttleRules.logInFrom.tries);
  expect(await instances[0].waitSeconds(keys)).toBeGreaterThan(0);
  await instances[1].clear(keys);
  expect(await instances[0].waitSeconds(keys)).toBe(0);
  expect(await instances[0].count(keys)).toBe(0);
});
