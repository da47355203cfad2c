// The rows of a table that differ between the sides.
import { Trans, useLingui } from '@lingui/react/macro';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Table } from '../../api/queries.ts';
import type { ChangeKind } from '../../diff/change-kinds.ts';
import { DiffRows } from '../../diff/diff-rows.tsx';
import { KindChoice } from '../../diff/kind-choice.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { asChangedRow, type Compared, differencesQuery } from './comparison-queries.ts';

type DifferingRowsProps = {
  compared: Compared;
  /** On the right, whose columns are shown. */
  table: Table;
  kind: ChangeKind | undefined;
  onKind: (kind: ChangeKind | undefined) => void;
};

export function DifferingRows({ compared, table, kind, onKind }: DifferingRowsProps) {
  const { t } = useLingui();
  const query = useInfiniteQuery(differencesQuery(compared, kind));
  const { data, error, refetch } = query;
  const rows = useMemo(() => data?.pages.flatMap((page) => page.rows.map(asChangedRow)) ?? [], [data]);
  const first = data?.pages[0];
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!first) return <Skeleton lines={8} />;
  const { counts, columns_left_only: leftOnly, columns_right_only: rightOnly } = first;
  const others = [...leftOnly, ...rightOnly].join(', ');
  if (counts.created + counts.updated + counts.deleted === 0)
    return (
      <EmptyState title={<Trans>The rows are the same</Trans>}>
        {others && <Trans>Not compared, since one side alone has them: {others}</Trans>}
      </EmptyState>
    );
  return (
    <>
      <KindChoice counts={counts} chosen={kind} onChoose={onKind} />
      {others && (
        <p>
          <Trans>Not compared, since one side alone has them: {others}</Trans>
        </p>
      )}
      {rows.length === 0 ? (
        <EmptyState
          title={<Trans>No row differs in this way</Trans>}
          action={
            <Button onPress={() => onKind(undefined)}>
              <Trans>Show all kinds</Trans>
            </Button>
          }
        />
      ) : (
        <DiffRows
          label={t`Rows of ${table.name} that differ`}
          rows={rows}
          columns={table.column_definitions}
          labelId={table.lookup_display_column_id}
          total={first.rowCount}
          windows={query}
        />
      )}
    </>
  );
}
