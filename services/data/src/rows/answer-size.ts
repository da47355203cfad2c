// How much one answer holds. PostgreSQL makes it as one text, Node takes it as one string, and many are under way at once: so records
// are rendered only until an answer is full, and then the statement fails (service-kit/postgres/errors.ts says so to the caller). Pure.
import { limits } from '@almanac/service-kit/limits';
import type { Column, DeployedTable } from '../tables/table.ts';
import { typeOf } from '../values/value-types.ts';

const longestOfSystem = 1_000;

/** No record of the table is longer than this, in bytes of JSON; `shown`: what lookups add. */
export function longestRecord({ structure }: Pick<DeployedTable, 'structure'>, shown: readonly Column[] = []): number {
  return [...structure.columns, ...shown].reduce(
    (sum, column) => sum + Buffer.byteLength(JSON.stringify(column.name)) + typeOf(column).jsonBytes(column) + 2,
    longestOfSystem,
  );
}

/** So many records surely fit into one answer; at least one. */
export const surelyFit = (longest: number): number => Math.max(1, Math.floor(limits.answerBytes / longest));

/** Whether so many records may be too much for an answer; where they can't be, nothing needs to be counted. */
export const mayOverflow = (records: number, longest: number): boolean => records * longest > limits.answerBytes;

// No expression of SQL raises an error by itself: no text may be so long, which PostgreSQL finds out before it makes it (54000).
const failSql = (bytes: string) => `repeat(' ', (sign(${bytes}) * ${limits.int4})::int)`;

/** The JSON text, or the statement fails: when all that goes into the answer with it has so many bytes that they are too many. */
export const withinAnswerSql = (json: string, bytes: string) =>
  `case when ${bytes} <= ${limits.answerBytes} then ${json} else ${failSql(bytes)} end`;

/** The JSON text, or the statement fails: when it is too long by itself. */
export const wholeSql = (json: string): string =>
  `(select ${withinAnswerSql('json', 'octet_length(json)')} from (select ${json} as json offset 0) one)`;

/** The JSON texts of the rows of `from`, in their order, with commas between them; with `mayOverflow` the statement fails when they are too much. */
export function joinedSql(json: string, from: string, overflows: boolean): string {
  if (!overflows) return `(select coalesce(string_agg(${json}, ','), '') from ${from})`;
  const each = `select ${json} as json from ${from} offset 0`;
  const counted = `select json, sum(octet_length(json)) over (rows unbounded preceding) as bytes from (${each}) each`;
  return `(select coalesce(string_agg(${withinAnswerSql('json', 'bytes')}, ','), '') from (${counted}) counted)`;
}
