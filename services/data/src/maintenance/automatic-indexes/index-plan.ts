// Which indexes to make and to drop: few for each table, those that people ask for. Pure.

import { schemaName } from '../../sql/identifiers.ts';
import type { DeployedTable } from '../../tables/table.ts';
import {
  byMaking,
  columnIdOf,
  findField,
  type GridIndex,
  indexName,
  isPossible,
  type Kind,
  orderOptionOf,
  simplest,
} from './grid-index.ts';

/** What people have asked of one index that would serve them, with what is known of its table. */
export type Need = {
  table: DeployedTable;
  rows: number;
  column_id: number;
  kind: Kind;
  /** The column in which rows are equal; 0: none. */
  equal_id: number;
  asked: number;
  /** How many values its columns have (`pg_stats.n_distinct`: negative as a share of the rows); null when not known. */
  distinct: number | null;
  equal_distinct: number | null;
  /** Days since it was last asked for; since it couldn't be made, if so. */
  idle_days: number;
  failed_days: number | null;
};

/** An index of ours as it is in the database. `table`: the physical table. */
export type Existing = { schema: string; name: string; table: string; valid: boolean; option: number };

export type IndexRules = {
  /** Smaller tables get none. */
  rowsMinimum: number;
  /** Asked less often, it isn't made. */
  askedMinimum: number;
  perTable: number;
  /** Those by words, the dearest to keep up. */
  wordsPerTable: number;
  idleDays: number;
  retryDays: number;
};

export const indexRules: IndexRules = {
  rowsMinimum: 100_000,
  askedMinimum: 3,
  perTable: 24,
  wordsPerTable: 4,
  idleDays: 14,
  retryDays: 1,
};

export type IndexToMake = { table: DeployedTable; index: GridIndex };
export type IndexPlan = { drop: Existing[]; make: IndexToMake[] };

/** `words`: whether the database can index by groups of letters. */
export function planIndexes(needs: Need[], existing: Existing[], rules: IndexRules, words: boolean): IndexPlan {
  const wanted = new Map<string, IndexToMake & { need: Need }>();
  const there = new Set(existing.filter(({ valid }) => valid).map(({ schema, name }) => `${schema}.${name}`));
  for (const [, ofTable] of Map.groupBy(oneWay(needs), (need) => need.table.table_definition_id))
    for (const each of chosen(ofTable, there, rules, words)) wanted.set(placeOf(each), each);
  const kept = existing.filter((index) => {
    const want = wanted.get(`${index.schema}.${index.name}`);
    return (
      want && index.valid && index.table === `t_${want.table.lineage_id}` && index.option === orderOptionOf(want.index)
    );
  });
  const have = new Set(kept.map((index) => `${index.schema}.${index.name}`));
  return {
    drop: existing.filter((index) => !kept.includes(index)),
    make: [...wanted.values()]
      .filter((each) => !have.has(placeOf(each)) && mayMake(each.need, rules))
      .map(({ table, index }) => ({ table, index })),
  };
}

const manyTies = 1_000;
const fewEqual = 200;
const preference = 2;

// What is as well served by one index: it is read from both ends, only the order of ties is another then, and few ties are sorted at
// once; so are the few rows that are equal in a column, whatever order they are asked for in.
function oneWay(needs: Need[]): Need[] {
  const merged = new Map<string, Need>();
  for (const need of needs) {
    const { rows, equal_id } = need;
    const valuesOf = (distinct: number | null) => (distinct === null ? 1 : distinct < 0 ? -distinct * rows : distinct);
    const isSorted = equal_id !== 0 && rows <= fewEqual * valuesOf(need.equal_distinct);
    const kind =
      need.kind === 'descending' && (isSorted || rows <= manyTies * valuesOf(need.distinct)) ? 'ascending' : need.kind;
    const same = simplestNeed({ ...need, column_id: isSorted ? byMaking : need.column_id, kind });
    const key = `${need.table.table_definition_id} ${same.column_id} ${same.kind} ${same.equal_id}`;
    const known = merged.get(key);
    const asked = need.asked + (known?.asked ?? 0);
    const idle_days = Math.min(need.idle_days, known?.idle_days ?? need.idle_days);
    const failed_days = need.failed_days ?? known?.failed_days ?? null;
    merged.set(key, { ...same, asked, idle_days, failed_days });
  }
  return [...merged.values()];
}

function simplestNeed(need: Need): Need {
  const index = indexOf(need);
  const same = index && simplest(index);
  return same && same !== index ? { ...need, column_id: columnIdOf(same.field), equal_id: 0 } : need;
}

const placeOf = ({ table, index }: IndexToMake) => `${schemaName(table.branch_id)}.${indexName(table, index)}`;

const mayMake = ({ failed_days }: Need, { retryDays }: IndexRules) => failed_days === null || failed_days >= retryDays;

// Undefined when the table has one of its columns no more.
function indexOf({ table, column_id, kind, equal_id }: Need): GridIndex | undefined {
  const field = findField(table, column_id);
  if (equal_id === 0) return field && { field, kind };
  const equal = findField(table, equal_id);
  return field && equal && { field, kind, equal };
}

// The most asked for, by day since it was last asked for, so that yesterday's favourite gives way in time; but only to what is asked for
// much more, or two of a kind would take each other's place again and again.
function chosen(
  needs: Need[],
  there: Set<string>,
  rules: IndexRules,
  words: boolean,
): (IndexToMake & { need: Need })[] {
  const weight = ({ need, ...each }: IndexToMake & { need: Need }) =>
    (need.asked * (there.has(placeOf(each)) ? preference : 1)) / (1 + need.idle_days);
  const candidates = needs
    .filter(
      (need) => need.rows >= rules.rowsMinimum && need.asked >= rules.askedMinimum && need.idle_days < rules.idleDays,
    )
    .flatMap((need) => {
      const index = indexOf(need);
      return index && isPossible(index) && (words || index.kind !== 'words')
        ? [{ table: need.table, index, need }]
        : [];
    })
    .toSorted((a, b) => weight(b) - weight(a));
  const others = candidates.filter(({ index }) => index.kind !== 'words');
  const byWords = candidates.filter(({ index }) => index.kind === 'words').slice(0, rules.wordsPerTable);
  return [...byWords, ...others.slice(0, rules.perTable - byWords.length)];
}
