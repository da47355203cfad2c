// The statements that data sends to PostgreSQL, for tests of what is read and how often.
import pg from 'pg';

export type SentStatements = { texts: string[]; stop(): void };

/** Records the texts of all statements from now on, until it is stopped. */
export function recordStatements(): SentStatements {
  const { query } = pg.Client.prototype;
  const texts: string[] = [];
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    texts.push((given[0] as { text?: string }).text ?? String(given[0]));
    return Reflect.apply(query, this, given);
  } as typeof query;
  return {
    texts,
    stop: () => {
      pg.Client.prototype.query = query;
    },
  };
}
