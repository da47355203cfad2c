import pg from 'pg';
import { createTestDatabase } from '../src/postgres/postgres.ts';

describe('test databases', () => {
  it('are empty, separate, in UTF-8 and in UTC', async () => {
    const [one, two] = await Promise.all([createTestDatabase('one'), createTestDatabase('two')]);
    const client = new pg.Client({ connectionString: one.url });
    await client.connect();
    const { rows } = await client.query(
      "select current_database() <> 'postgres' as own, current_setting('server_encoding') as encoding, current_setting('timezone') as zone",
    );
    await client.end();
    await Promise.all([one.drop(), two.drop()]);
    expect(one.url).not.toBe(two.url);
    expect(rows).toEqual([{ own: true, encoding: 'UTF8', zone: 'UTC' }]);
  });
});
