// Fixtures of the tests of merges: a table on branch 1, its copy with the same rows on branch 2,
// and edits of either.
import { type ColumnInput, caller, type DataNet, deploy, type TableInput } from '../given.ts';

export type Row = Record<string, string | number | null>;
/** Rows by key: their new values, or null to delete them. */
export type Edits = Record<string, Row | null>;
export type Resolution = {
  table?: string;
  column?: string;
  row_key?: Record<string, string>;
  is_row?: boolean;
  resolution: 'source' | 'target';
};

/** Three rows to begin with. */
export const base: Edits = {
  A: { name: 'Alpha', size: 1 },
  B: { name: 'Beta', size: 2 },
  C: { name: 'Gamma', size: 3 },
};

let last = 0;

/** An unused id that ends in 0. */
export function nextId(): number {
  last += 10;
  return last;
}

export const codeColumn: ColumnInput = { name: 'code', length: 10, is_primary_key: true };
const usual: ColumnInput[] = [codeColumn, { name: 'name', length: 20 }, { name: 'size', data_type: 'integer' }];

/** The copy of a table on branch 2, which begins with its rows. */
export function copyOf(table: TableInput, change: Partial<TableInput> = {}): TableInput {
  const lineage_id = table.lineage_id ?? table.id;
  return {
    ...table,
    id: table.id + 1,
    lineage_id,
    branch_id: 2,
    key: table.key ?? `table_${table.id}`,
    name: table.name ?? `Table ${table.id}`,
    columns: withLineages(table),
    rows_from_table_id: table.id,
    ...change,
  };
}

/** The columns of a table with their lineages, which they keep in another order or table. */
export const withLineages = (table: TableInput): ColumnInput[] =>
  table.columns.map((column, i) => ({ ...column, lineage_id: column.lineage_id ?? table.id * 1000 + i + 1 }));

/** A table with rows on branch 1 and its copy on branch 2, both deployed. */
export async function givenCopy(
  net: DataNet,
  rows: Edits,
  columns = usual,
): Promise<{ main: TableInput; copy: TableInput }> {
  const main: TableInput = { id: nextId(), columns };
  await deploy(net, [main]);
  await edit(net, main.id, rows);
  const copy = copyOf(main);
  await deploy(net, [copy]);
  return { main, copy };
}

/** The live rows of a table, by the order of their codes. */
export async function recordsOf(net: DataNet, table: number): Promise<(Row & { svc_sk: number; code: string })[]> {
  const { status, body } = await net.call(
    'GET',
    `/api/v1/table_data?table_definition_id=${table}&sort=code&per_page=1000`,
  );
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.data;
}

/** The same without system columns and code, by code. */
export async function rowsOf(net: DataNet, table: number): Promise<Edits> {
  const entries = (await recordsOf(net, table)).map((record) => {
    const own = Object.entries(record).filter(([name]) => name !== 'code' && !name.startsWith('svc_'));
    return [record.code, Object.fromEntries(own)];
  });
  return Object.fromEntries(entries);
}

/** Creates, changes and deletes rows in one batch. */
export async function edit(net: DataNet, table: number, edits: Edits): Promise<void> {
  if (Object.keys(edits).length === 0) return;
  const ids = new Map((await recordsOf(net, table)).map(({ code, svc_sk }) => [code, svc_sk]));
  const operations = Object.entries(edits).map(([code, cells]) => {
    const id = ids.get(code);
    if (cells === null) return { operation: 'delete', id };
    return id === undefined
      ? { operation: 'create', record: { code, ...cells } }
      : { operation: 'update', id, record: cells };
  });
  const { status, body } = await net.call('POST', '/api/v1/table_data/batch', {
    table_definition_id: table,
    operations,
  });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
}

const pairsOf = (pairs: [source: number, target: number][]) =>
  pairs.map(([source_table_id, target_table_id]) => ({ source_table_id, target_table_id }));

type Summary = { source_table_id: number; revision: string };

/** What a merge of these tables would do, and its revision. */
export async function summarize(net: DataNet, pairs: [source: number, target: number][], promotion_id = 0) {
  const { summaries } = await net.metadata.SummarizeMerge(caller, { pairs: pairsOf(pairs), promotion_id });
  return summaries;
}

type Filter = { source_table_id?: number; kind?: string; conflict?: boolean; decision?: string };

/** Decides rows of a promotion, by their codes in the first table or by a filter; how many. */
export async function decide(
  net: DataNet,
  promotion_id: number,
  pairs: [source: number, target: number][],
  which: string[] | Filter,
  decision: 'accepted' | 'rejected' | 'undecided',
  comment?: string,
): Promise<number> {
  const source_table_id = pairs[0]?.[0] as number;
  const some = Array.isArray(which)
    ? { rows: which.map((code) => ({ source_table_id, key: { code } })) }
    : { filter: { source_table_id: 0, kind: '', decision: '', ...which } };
  const decisions = [{ rows: [], ...some, decision, ...(comment === undefined ? {} : { comment }) }];
  const request = { promotion_id, pairs: pairsOf(pairs), decisions };
  return Number((await net.metadata.DecideMergedRows({ ...caller, userId: 7 }, request)).decided_count);
}

/** The decisions of a promotion on rows of these tables. */
export async function decisionsOf(net: DataNet, promotion_id: number, source_table_ids: number[], decision = '') {
  const request = { promotion_id, source_table_ids, decision, start_row: 0, end_row: 1000 };
  const parts: Buffer[] = [];
  for await (const { chunk } of net.metadata.ListRowDecisions(caller, request)) parts.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(parts).toString()) as { rows: Record<string, unknown>[]; rowCount: number };
}

export type MergedRow = {
  id: number;
  table_definition_id: number;
  target_table_definition_id: number;
  kind: 'create' | 'update' | 'delete';
  key: Row;
  base: Row | null;
  source: Row | null;
  target: Row | null;
  changed_columns: string[];
  conflict: { row: boolean; columns: string[] } | null;
  decision: 'undecided' | 'accepted' | 'rejected';
  comment: string | null;
  decided_by: number | null;
  decided_at: string | null;
};
type Counts = {
  kinds: Record<MergedRow['kind'], number>;
  with_conflict: number;
  decisions: Record<MergedRow['decision'], number>;
};
type WindowInput = {
  kind?: string;
  conflict?: boolean;
  decision?: string;
  promotion_id?: number;
  start_row?: number;
  end_row?: number;
  exact_numbers?: boolean;
};

/** A window of the rows that a merge of these tables would change; the first 1,000 by default. */
export async function mergedRows(
  net: DataNet,
  pairs: [source: number, target: number][],
  window: WindowInput = {},
): Promise<{ rows: MergedRow[]; rowCount: number; counts: Counts }> {
  const request = { kind: '', decision: '', start_row: 0, end_row: 1000, exact_numbers: false, ...window };
  const parts: Buffer[] = [];
  for await (const { chunk } of net.metadata.ReadMergedRows(caller, { pairs: pairsOf(pairs), ...request }))
    parts.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(parts).toString());
}

let merges = 0;

/** Merges the rows of tables, given as pairs of source and target. */
export async function merge(
  net: DataNet,
  pairs: [source: number, target: number][],
  {
    id,
    resolutions = [],
    rehearsal = false,
    revisions,
    promotion = 0,
  }: { id?: string; resolutions?: Resolution[]; rehearsal?: boolean; revisions?: Summary[]; promotion?: number } = {},
) {
  merges += 1;
  const result = await net.metadata.MergeRows(
    { ...caller, userId: undefined },
    {
      merge_id: id ?? `merge-${process.pid}-${merges}`,
      pairs: pairsOf(pairs),
      resolutions: resolutions.map((each) => ({
        table: `table_${Math.floor((pairs[0]?.[0] as number) / 10) * 10}`,
        column: '',
        row_key: {},
        is_row: false,
        ...each,
      })),
      rehearsal,
      revisions: (revisions ?? []).map(({ source_table_id, revision }) => ({ source_table_id, revision })),
      has_revisions: revisions !== undefined,
      promotion_id: promotion,
    },
    { deadlineMs: 60_000 },
  );
  const read = (text: string) => JSON.parse(text);
  return {
    ...result,
    conflicts: result.conflicts.map(({ row_key, base, source, target, column, resolution }) => ({
      key: Object.values(read(row_key)).join('|'),
      column: column === '' ? null : column,
      sides: [read(base), read(source), read(target)],
      ...(resolution === '' ? {} : { resolution }),
    })),
  };
}
