// The rows that a promotion would change, table by table and a window at a time.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import type { Schemas } from '../../../api/client.ts';
import { tablesQuery } from '../../../api/queries.ts';
import { type ChangedRow, DiffRows } from '../../../diff/diff-rows.tsx';
import { KindChoice } from '../../../diff/kind-choice.tsx';
import { Button } from '../../../parts/button.tsx';
import { Refusal } from '../../../parts/form/form.tsx';
import pageStyles from '../../../parts/page.module.css';
import { ReasonForm } from '../../../parts/review/reason-form.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../../parts/states.tsx';
import type { Promotion } from '../../change-queries.ts';
import styles from '../../changes.module.css';
import { useIsActing } from '../../use-is-acting.ts';
import { DecideAll } from './decide-all.tsx';
import { type PromotedRow, promotedRowsQuery } from './promoted-rows-query.ts';
import type { PromotionView } from './promotion-view.ts';
import { RowDecision } from './row-decision.tsx';
import { useRowDecisions } from './row-decisions.ts';

type PromotedRowsProps = {
  promotion: Promotion;
  merged: readonly Schemas['MergedRows'][] | undefined;
  /** Called with the revision that the person's own decisions have led to. */
  onRevision: (revision: string | null) => void;
};

export function PromotedRows({ promotion, merged = [], onRevision }: PromotedRowsProps) {
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
            <select value={table.id} onChange={({ target }) => change({ ...unfiltered, table: Number(target.value) })}>
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
        onRevision={onRevision}
      />
    </section>
  );
}

type RowsOfTableProps = {
  promotion: Promotion;
  table: Promotion['table_definitions'][number];
  view: PromotionView;
  change: (part: PromotionView) => void;
  onRevision: PromotedRowsProps['onRevision'];
};

const unfiltered: PromotionView = { kind: undefined, conflict: undefined, rejected: undefined };

function RowsOfTable({ promotion, table, view, change, onRevision }: RowsOfTableProps) {
  const { t } = useLingui();
  const enabled = !useIsActing();
  const query = useInfiniteQuery({ ...promotedRowsQuery(promotion.id, promotion.revision, view), enabled });
  const { data, error, refetch } = query;
  const { data: deployed } = useQuery(tablesQuery(promotion.to_branch_id));
  const target = deployed?.find(({ id }) => id === table.target_table_definition_id);
  const decisions = useRowDecisions(promotion, onRevision);
  const [asked, setAsked] = useState<string>();
  const mayDecide = promotion.can?.includes('promote') ?? false;
  const shown = data?.pages.flatMap((page) => page.rows) ?? [];
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  const first = data?.pages[0];
  if (!first) return <Skeleton lines={6} />;
  const { kinds, with_conflict: conflicts, decisions: decided } = first.counts;
  const total = kinds.create + kinds.update + kinds.delete;
  if (total === 0)
    return (
      <EmptyState title={<Trans>No row of {table.name} would change</Trans>}>
        {table.target_table_definition_id === null && (
          <Trans>It is new there: it gets its rows when it is deployed.</Trans>
        )}
      </EmptyState>
    );
  const decidable = (row: PromotedRow) => {
    const { table_definition_id, key } = row;
    const name = `${row.kind} ${row.id}`;
    const rows = [{ table_definition_id, key: key as Record<string, string> }];
    const decide = (...verdict: [decision: 'accept' | 'reject' | 'undecided', reason?: string]) => {
      setAsked(undefined);
      decisions.decide({ rows }, ...verdict);
    };
    return {
      id: name,
      mark: (
        <>
          {row.conflict && <ConflictMark />}
          <RowDecision row={row} mayDecide={mayDecide} onDecide={decide} onReject={() => setAsked(name)} />
        </>
      ),
      ...(asked === name && {
        details: (
          <ReasonForm
            verb="reject"
            onAnswer={(reason) => decide('reject', reason)}
            onCancel={() => setAsked(undefined)}
          />
        ),
      }),
    };
  };
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
        {(decided.rejected > 0 || view.rejected) && (
          <label>
            <input
              type="checkbox"
              checked={view.rejected ?? false}
              onChange={({ target }) => change({ rejected: target.checked || undefined })}
            />
            <Trans>only {decided.rejected} rejected</Trans>
          </label>
        )}
        {mayDecide && first.rowCount > 0 && <DecideAll view={view} count={first.rowCount} decisions={decisions} />}
        <Refusal error={decisions.error} />
      </div>
      {shown.length === 0 ? (
        <EmptyState
          title={<Trans>No row matches the filters</Trans>}
          action={
            <Button onPress={() => change(unfiltered)}>
              <Trans>Show all rows</Trans>
            </Button>
          }
        />
      ) : (
        <DiffRows
          label={t`Rows of ${table.name} that would change`}
          rows={shown.map((row) => ({ ...asChanged(row), ...decidable(row) }))}
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

// The sides of a promoted row are without its key.
function asChanged({ kind, key, base, source, target, changed_columns }: PromotedRow) {
  const whole = (side: PromotedRow['base']) => side && { ...key, ...side };
  const current = whole(target) as ChangedRow['current'];
  return { kind: kindOf[kind], key, base: whole(base), proposed: whole(source), current, changed_columns };
}

function ConflictMark() {
  return (
    <div className={pageStyles.bad}>
      <TriangleAlert size={14} aria-hidden /> <Trans>conflict</Trans>
    </div>
  );
}
