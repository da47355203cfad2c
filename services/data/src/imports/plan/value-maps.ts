// Value maps: a mapping may say that X is true and an empty cell is false. Each mapped cell has a
// staged cell of its own after the file's, which PostgreSQL fills as it copies the file: so the map
// stands in one place and is evaluated once a row, and the file's own cell stays as it was for the
// list of rejected rows. Pure.
import type { CellValues__Output } from '@almanac/protos/generated/almanac/data/v1/CellValues.ts';
import type { ColumnSource__Output } from '@almanac/protos/generated/almanac/data/v1/ColumnSource.ts';
import { quoteLiteral } from '../../sql/literals.ts';
import { shownValues } from '../../tables/column-rules.ts';

/** Turns a text expression over a cell into another. */
export type TextReading = (x: string) => string;

export type ValueMap = {
  target: string;
  /** The file's cell. */
  position: number;
  /** The mapped value; null: no value. */
  sql: TextReading;
  /**
   * Of a map that rejects unknown values: whether it doesn't know the cell, given the cell and the
   * mapped value.
   */
  unknown?: { message: string; sql: (cell: string, value: string) => string };
};

const maxEntries = 1000;
const maxTextLength = 1000;

/** The position of a source's cell in the line of the file. */
export const positionOf = ({ position, values }: Pick<ColumnSource__Output, 'position' | 'values'>): number =>
  values ? values.position : position;

/** The maps of a load, in the order of the cells that they fill. */
export function readValueMaps(
  columns: readonly ColumnSource__Output[],
  readText: (source: ColumnSource__Output) => TextReading,
): ValueMap[] {
  return columns.flatMap((source) => {
    const { target_column: target, values } = source;
    if (!values || values.map === '' || valueMapProblem(target, values) !== undefined) return [];
    return { target, position: values.position, ...readValueMap(values, readText(source)) };
  });
}

/** What is wrong with the value map of `name`; a sentence. */
export function valueMapProblem(name: string, { map, otherwise, otherwise_value: other }: CellValues__Output) {
  if (!['', 'keep', 'reject', 'value'].includes(otherwise)) return `${name} takes keep, reject or a value otherwise.`;
  const entries = map === '' ? [] : readEntries(map);
  if (!entries) return `The value_map of ${name} is no object of texts.`;
  if (entries.length > maxEntries) return `The value_map of ${name} has more than ${maxEntries} entries.`;
  const texts = [...entries.flat(), other ?? null].filter((text) => text !== null);
  if (texts.some((text) => text.length > maxTextLength))
    return `The value_map of ${name} holds a text of more than ${maxTextLength} characters.`;
  return texts.some((text) => text.includes('\0') || !text.isWellFormed())
    ? `The value_map of ${name} holds what is no text.`
    : undefined;
}

function readEntries(map: string): [string, string | null][] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(map);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value as Record<string, unknown>);
  return entries.every((entry): entry is [string, string | null] => entry[1] === null || typeof entry[1] === 'string')
    ? entries
    : undefined;
}

const literal = (text: string) => quoteLiteral(text).trim();

function readValueMap({ map, otherwise, otherwise_value: other }: CellValues__Output, readText: TextReading) {
  const entries = readEntries(map) as [string, string | null][];
  const known = `${literal(JSON.stringify(Object.fromEntries(entries)))}::jsonb`;
  const instead = otherwise === 'value' && typeof other === 'string' ? `${literal(other)}::text` : 'null';
  const sql: TextReading = (x) => {
    const text = readText(x);
    const kept = otherwise === '' || otherwise === 'keep' ? '' : ` when coalesce(${text}, '') <> '' then ${instead}`;
    return `case when ${known} ? coalesce(${text}, '') then ${known} ->> coalesce(${text}, '')${kept} else ${text} end`;
  };
  if (otherwise !== 'reject') return { sql };
  // A map may also map a value to null.
  const nulls = entries.flatMap(([text, value]) => (value === null && text !== '' ? literal(text) : []));
  const unknown = {
    message: `must be one of ${shownValues(entries.map(([text]) => text || '""'))} (value_map)`,
    sql: (cell: string, value: string) => {
      const text = readText(cell);
      const meant = nulls.length === 0 ? '' : ` and ${text} not in (${nulls.join(', ')})`;
      return `(${value} is null and coalesce(${text}, '') <> ''${meant})`;
    },
  };
  return { sql, unknown };
}
