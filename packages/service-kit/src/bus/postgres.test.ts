import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres';
import { describeBus } from './bus.suite.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('bus');
});

afterAll(() => database.drop());

describeBus('PostgreSQL', () => database.url);
