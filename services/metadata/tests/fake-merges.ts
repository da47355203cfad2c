// Merges of rows as data answers them, for tests of metadata: what was asked is kept, and answered
// with what the test has set.
import type { DecideMergedRowsRequest__Output } from '@almanac/protos/generated/almanac/data/v1/DecideMergedRowsRequest.ts';
import type { ListRowDecisionsRequest__Output } from '@almanac/protos/generated/almanac/data/v1/ListRowDecisionsRequest.ts';
import type { MergePair__Output } from '@almanac/protos/generated/almanac/data/v1/MergePair.ts';
import type { MergeRowsRequest__Output } from '@almanac/protos/generated/almanac/data/v1/MergeRowsRequest.ts';
import type { MergeRowsResult__Output } from '@almanac/protos/generated/almanac/data/v1/MergeRowsResult.ts';
import type { ReadMergedRowsRequest__Output } from '@almanac/protos/generated/almanac/data/v1/ReadMergedRowsRequest.ts';
import type { RpcHandlers } from '@almanac/service-kit/rpc/contract';

/** The state of merges; tests write to it. */
export type FakeMerges = {
  /** The requested merges of rows, rehearsals too. */
  merges: MergeRowsRequest__Output[];
  /** The result of the next merges of rows; by default they merge one row of each table. */
  merging: Partial<MergeRowsResult__Output> | undefined;
  merged: Map<string, MergeRowsResult__Output>;
  /** What names the rows that merging a source would change; by default its id. */
  rowRevisions: Map<number, string>;
  /** The requested windows of such rows. */
  windows: ReadMergedRowsRequest__Output[];
  /** The decisions on rows that were sent, and the windows of them that were asked for. */
  rowDecisions: DecideMergedRowsRequest__Output[];
  decisionWindows: ListRowDecisionsRequest__Output[];
};

export const noMerges = (): FakeMerges => ({
  merges: [],
  merging: undefined,
  merged: new Map(),
  rowRevisions: new Map(),
  windows: [],
  rowDecisions: [],
  decisionWindows: [],
});

type Hooks = Partial<Record<string, () => unknown>>;
type Data = FakeMerges & { deployed: ReadonlyMap<number, { key: string }>; before: Hooks; after: Hooks };
type Handled = 'MergeRows' | 'SummarizeMerge' | 'ReadMergedRows' | 'DecideMergedRows' | 'ListRowDecisions';

export function mergeHandlers(state: Data): Pick<RpcHandlers<'data'>, Handled> {
  return {
    MergeRows: async (call, request) => {
      const id = `${call.accountId}/${request.merge_id}`;
      state.merges.push(request);
      await state.before.MergeRows?.();
      const result = state.merged.get(id) ?? mergeResult(state, request);
      if (result.status === 'merged') state.merged.set(id, result);
      await state.after.MergeRows?.();
      return result;
    },
    SummarizeMerge: async (_call, { pairs }) => {
      await state.before.SummarizeMerge?.();
      return { summaries: summariesOf(state, pairs) };
    },
    ReadMergedRows: async function* (_call, request) {
      state.windows.push(request);
      const rows = request.pairs.map(({ source_table_id, target_table_id }) => ({
        ...{ id: source_table_id, table_definition_id: source_table_id, target_table_definition_id: target_table_id },
        ...{ kind: 'update', key: { code: 'A' }, changed_columns: ['name'], conflict: null },
        ...{ base: { name: 'n' }, source: { name: 'm' }, target: { name: 'n' } },
        ...{ decision: 'undecided', comment: null, decided_by: null, decided_at: null },
      }));
      const decisions = { undecided: rows.length, accepted: 0, rejected: 0 };
      const counts = { kinds: { create: 0, update: rows.length, delete: 0 }, with_conflict: 0, decisions };
      yield { chunk: Buffer.from(JSON.stringify({ rows, rowCount: rows.length, counts })) };
    },
    DecideMergedRows: async (_call, request) => {
      state.rowDecisions.push(request);
      return { decided_count: request.decisions.length };
    },
    ListRowDecisions: async function* (_call, request) {
      state.decisionWindows.push(request);
      yield { chunk: Buffer.from(JSON.stringify({ rows: [], rowCount: 0 })) };
    },
  };
}

const revisionOfRows = (state: Data, sourceId: number) => state.rowRevisions.get(sourceId) ?? `rows-${sourceId}`;

const summariesOf = (state: Data, pairs: MergePair__Output[]) =>
  pairs.map((pair) => ({
    ...pair,
    created: 1,
    updated: 2,
    deleted: 3,
    conflicts: 4,
    revision: revisionOfRows(state, pair.source_table_id),
  }));

function mergeResult(
  state: Data,
  { pairs, rehearsal, revisions, has_revisions }: MergeRowsRequest__Output,
): MergeRowsResult__Output {
  const key = (id: number) => state.deployed.get(id)?.key ?? '';
  const seen = new Map(revisions.map(({ source_table_id, revision }) => [source_table_id, revision]));
  const changed = has_revisions
    ? pairs.filter(({ source_table_id }) => seen.get(source_table_id) !== revisionOfRows(state, source_table_id))
    : [];
  const isRefused = changed.length > 0;
  return {
    status: isRefused ? 'refused' : rehearsal ? 'rehearsed' : 'merged',
    conflicts: [],
    conflict_count: 0,
    undecided_count: 0,
    unmatched_resolutions: [],
    violations: [],
    warnings: [],
    summaries: rehearsal ? summariesOf(state, pairs) : [],
    changed_tables: changed.map(({ source_table_id }) => source_table_id),
    tables: (isRefused ? [] : pairs).map((pair) => ({
      ...{ ...pair, table: key(pair.target_table_id) },
      ...{ created: 1, updated: 0, deleted: 0 },
    })),
    ...(isRefused ? {} : state.merging),
  };
}
