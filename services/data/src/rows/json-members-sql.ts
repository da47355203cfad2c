// JSON objects and lists whose members are there under a condition, as expressions. Pure.
import type { Column, DeployedTable } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { typeOf } from '../values/value-types.ts';

/** The JSON text of a value of the column, as records show it; null becomes `null`. */
export const valueJsonSql = ({ structure }: DeployedTable, column: Column, value: string): string =>
  `coalesce((${typeOf(column).jsonSql(`(${value})`, structure.exact_numbers)})::text, 'null')`;

/** The JSON text of a text; null becomes `null`. */
export const textJsonSql = (x: string): string => `coalesce(to_json(${x})::text, 'null')`;

/** The JSON text of an instant in UTC; null becomes `null`. */
export const instantSql = (x: string): string =>
  `coalesce(left(json_cell(${x} + interval '1 microsecond')::text, 24) || 'Z"', 'null')`;

type Member = { name: string; json: string; when?: string };

const whenSql = (when: string | undefined, text: string) =>
  when === undefined ? text : `case when ${when} then ${text} end`;

/** A JSON object of the members that have no condition, or a true one. */
export const objectSql = (members: Member[], bind: Bind): string =>
  `'{' || ${joinSql(members.map(({ name, json, when }) => whenSql(when, `${bind(`${JSON.stringify(name)}:`, 'text')} || ${json}`)))} || '}'`;

/** A JSON list of the items that have no condition, or a true one. */
export const arraySql = (items: Omit<Member, 'name'>[]): string =>
  `'[' || ${joinSql(items.map(({ json, when }) => whenSql(when, json)))} || ']'`;

const maxJoined = 99; // arguments of a function besides the separator

// The texts that are not null, with commas between them.
function joinSql(parts: string[]): string {
  if (parts.length === 0) return `''`;
  if (parts.length <= maxJoined) return `concat_ws(',', ${parts.join(', ')})`;
  const groups = Array.from({ length: Math.ceil(parts.length / maxJoined) }, (_, i) =>
    joinSql(parts.slice(i * maxJoined, (i + 1) * maxJoined)),
  );
  return joinSql(groups.map((group) => `nullif(${group}, '')`));
}
