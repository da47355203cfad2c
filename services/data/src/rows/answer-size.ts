// The size of an answer. PostgreSQL makes it as one text, Node holds it as one string, and many are
// made at once. So records are rendered only until an answer is full, and then the statement fails;
// service-kit/postgres/errors.ts explains it to the caller. Pure.
import { limits } from '@almanac/service-kit/limits';
import type { Column, DeployedTable } from '../tables/table.ts';
import { typeOf } from '../values/value-types.ts';

const maxSystemColumnsBytes = 1_000;

/** No record of the table takes more bytes of JSON; `shown`: the columns that lookups add. */
export function maxRecordBytes({ structure }: Pick<DeployedTable, 'structure'>, shown: readonly Column[] = []): number {
  return [...structure.columns, ...shown].reduce(
    (sum, column) => sum + Buffer.byteLength(JSON.stringify(column.name)) + typeOf(column).jsonBytes(column) + 2,
    maxSystemColumnsBytes,
  );
}

/** So many records fit into one answer whatever they hold; at least one. */
export const maxRowsThatFit = (recordBytes: number): number =>
  Math.max(1, Math.floor(limits.answerBytes / recordBytes));

/** Whether so many records may exceed an answer; where they can't, their bytes need no counting. */
export const mayOverflow = (records: number, recordBytes: number): boolean =>
  records * recordBytes > limits.answerBytes;

// SQL has no expression that raises an error. A text of this length is one: PostgreSQL refuses it
// (54000) before it makes it.
const failSql = (bytes: string) => `repeat(' ', (sign(${bytes}) * ${limits.int4})::int)`;

/**
 * The JSON text; the statement fails when the answer so far, this text included, has too many
 * bytes.
 */
export const withinAnswerSql = (json: string, bytes: string) =>
  `case when ${bytes} <= ${limits.answerBytes} then ${json} else ${failSql(bytes)} end`;

/** The JSON text of one record that is an answer; the statement fails when it is too long. */
export const boundedRecordSql = (json: string): string =>
  `(select ${withinAnswerSql('json', 'octet_length(json)')} from (select ${json} as json offset 0) one)`;

/**
 * The JSON texts of the rows of `from`, in their order, with commas between them. With `overflows`
 * the statement fails when they exceed an answer.
 */
export function joinedSql(json: string, from: string, overflows: boolean): string {
  if (!overflows) return `(select coalesce(string_agg(${json}, ','), '') from ${from})`;
  const each = `select ${json} as json from ${from} offset 0`;
  const counted = `select json, sum(octet_length(json)) over (rows unbounded preceding) as bytes from (${each}) each`;
  return `(select coalesce(string_agg(${withinAnswerSql('json', 'bytes')}, ','), '') from (${counted}) counted)`;
}
