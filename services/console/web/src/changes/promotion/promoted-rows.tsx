// The rows that a promotion would change, table by table and a window at a time.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { useMemo } from 'react';
import type { Schemas } from '../../api/client.ts';
import { tablesQuery } from '../../api/queries.ts';
import { type ChangedRow, DiffRows } from '../../diff/diff-rows.tsx';
import { KindChoice } from '../../diff/kind-choice.tsx';
import { Button } from '../../parts/button.tsx';
import pageStyles from '../../parts/page.module.css';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import type { Promotion } from '../change-queries.ts';
import styles from '../changes.module.css';
import { useIsActing } from '../use-is-acting.ts';
import { type PromotedRow, promotedRowsQuery } from './promoted-rows-query.ts';
import type { PromotionView } from './promotion-view.ts';

type PromotedRowsProps = { promotion: Promotion; merged: readonly Schemas['MergedRows'][] | undefined };

export function PromotedRows({ promotion, merged = [] }: PromotedRowsProps) {
  const view = useSearch({ from: '/promotions/$id' });
  const navigate = useNavigate({ from: '/promotions/$id' });
  const change = (part: PromotionView) =>
    void navigate({ to: '.', search: (search) => ({ ...search, ...part }), replace: true, resetScroll: false });
  const tables = promotion.table_definitions;
  const isTouched = (key: string) =>
    merged.some(({ table, created, updated, deleted }) => table === key && created + updated + deleted > 0);
  const table = tables.find(({ id }) => id === view.table) ?? tables.find(({ key }) => isTouched(key)) ?? tables[0];
  if (!table) return null;
  return (
    <section className={styles.part} aria-labelledby="rows-title">
      <h2 id="rows-title">
        <Trans>Rows</Trans>
      </h2>
      <div className={styles.tools}>
        {tables.length > 1 && (
          <label>
            <Trans>Table</Trans>
            <select
              value={table.id}
              onChange={({ target }) => change({ table: Number(target.value), kind: undefined, conflict: undefined })}
            >
              {tables.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <RowsOfTable
        key={table.id}
        promotion={promotion}
        table={table}
        view={{ ...view, table: table.id }}
        change={change}
      />
    </section>
  );
}

type RowsOfTableProps = {
  promotion: Promotion;
  table: Promotion['table_definitions'][number];
  view: PromotionView;
  change: (part: PromotionView) => void;
};

function RowsOfTable({ promotion, table, view, change }: RowsOfTableProps) {
  const { t } = useLingui();
  const enabled = !useIsActing();
  const query = useInfiniteQuery({ ...promotedRowsQuery(promotion.id, promotion.revision, view), enabled });
  const { data, error, refetch } = query;
  const { data: deployed } = useQuery(tablesQuery(promotion.to_branch_id));
  const target = deployed?.find(({ id }) => id === table.target_table_definition_id);
  const rows = useMemo(() => data?.pages.flatMap((page) => page.rows.map(asChanged)) ?? [], [data]);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  const first = data?.pages[0];
  if (!first) return <Skeleton lines={6} />;
  const { kinds, with_conflict: conflicts } = first.counts;
  const total = kinds.create + kinds.update + kinds.delete;
  if (total === 0)
    return (
      <EmptyState title={<Trans>No row of {table.name} would change</Trans>}>
        {table.target_table_definition_id === null && (
          <Trans>It is new there: it gets its rows when it is deployed.</Trans>
        )}
      </EmptyState>
    );
  return (
    <>
      <div className={styles.tools}>
        <KindChoice
          counts={{ created: kinds.create, updated: kinds.update, deleted: kinds.delete }}
          chosen={view.kind}
          onChoose={(kind) => change({ kind })}
        />
        {(conflicts > 0 || view.conflict) && (
          <label>
            <input
              type="checkbox"
              checked={view.conflict ?? false}
              onChange={({ target }) => change({ conflict: target.checked || undefined })}
            />
            <Plural value={conflicts} one="only # with a conflict" other="only # with conflicts" />
          </label>
        )}
      </div>
      {rows.length === 0 ? (
        <EmptyState
          title={<Trans>No row matches the filters</Trans>}
          action={
            <Button onPress={() => change({ kind: undefined, conflict: undefined })}>
              <Trans>Show all rows</Trans>
            </Button>
          }
        />
      ) : (
        <DiffRows
          label={t`Rows of ${table.name} that would change`}
          rows={rows}
          columns={target?.column_definitions ?? []}
          labelId={target?.lookup_display_column_id ?? null}
          total={first.rowCount}
          windows={query}
        />
      )}
    </>
  );
}

const kindOf = { create: 'created', update: 'updated', delete: 'deleted' } as const;

function asChanged(row: PromotedRow): ChangedRow {
  const { id, kind, key, base, source, target, changed_columns, conflict } = row;
  return {
    id: `${kind} ${id}`,
    kind: kindOf[kind],
    key,
    base,
    proposed: source,
    current: target as ChangedRow['current'],
    changed_columns,
    ...(conflict && { mark: <ConflictMark /> }),
  };
}

function ConflictMark() {
  return (
    <div className={pageStyles.bad}>
      <TriangleAlert size={14} aria-hidden /> <Trans>conflict</Trans>
    </div>
  );
}
