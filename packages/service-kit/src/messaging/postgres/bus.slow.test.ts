import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import pg from 'pg';
import { describeBus } from '../bus.suite.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('bus');
});

afterAll(() => database.drop());

async function sendRaw(queue: string, _type: string, text: string): Promise<void> {
  const value = read(text);
  const data = value === null ? null : JSON.stringify({ message: value, attempt: value });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query('insert into bus.job (name, data) values ($1, $2::jsonb)', [queue, data]);
    if (text.length < 7_900) await client.query(`select pg_notify('almanac_bus', $1)`, [text]);
  } finally {
    await client.end();
  }
}

// What is no JSON can't be stored as such.
function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

describeBus('PostgreSQL', () => database.url, sendRaw);
