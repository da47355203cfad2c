// The operations on one table: which are shown, their windows, and what is done to them.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { type Table, tablesQuery } from '../../api/queries.ts';
import { cellFormats } from '../../cells/cell-text.ts';
import { type DiffColumns, diffColumns } from '../../diff/diff-columns.ts';
import { localeOf } from '../../language/locale.ts';
import { Button } from '../../parts/button.tsx';
import pageStyles from '../../parts/page.module.css';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { useIsNarrow } from '../../table/use-is-narrow.ts';
import { commentsQuery, type Operation } from '../queries.ts';
import { isFiltered } from '../review/review-view.ts';
import { Filters } from './filters.tsx';
import type { OperationsProps } from './list-props.ts';
import { OperationList } from './operation-list.tsx';
import styles from './operations.module.css';
import { useOperations } from './use-operations.ts';

export function Operations(props: OperationsProps) {
  const { request, table, view, change } = props;
  const { kind, decision, problem } = view;
  return (
    <div className={styles.operations}>
      <h2 className={pageStyles.hidden}>{table.name}</h2>
      <Filters
        requestId={request.id}
        tableId={table.id}
        filter={{ kind, decision, problem }}
        onChange={(filter) => change({ ...filter, operation: undefined })}
      />
      <FoundOperations key={`${kind} ${decision} ${problem}`} {...props} />
    </div>
  );
}

function FoundOperations(props: OperationsProps) {
  const { request, table, view, change } = props;
  const { i18n } = useLingui();
  const formats = useMemo(() => cellFormats(localeOf(i18n.locale)), [i18n.locale]);
  const isNarrow = useIsNarrow();
  const [filter] = useState({ kind: view.kind, decision: view.decision, problem: view.problem });
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useOperations(
    request.id,
    table.id,
    filter,
  );
  const { data: tables } = useQuery(tablesQuery(request.branch_id));
  const { data: comments = [] } = useQuery(commentsQuery(request.id));
  const definition = tables?.find(({ table_definition_id }) => table_definition_id === table.id);
  const operations = useMemo(() => distinct(data?.pages.flatMap((page) => page.operations) ?? []), [data]);
  const columns = useColumns(operations, definition);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton lines={10} />;
  if (operations.length === 0)
    return isFiltered(filter) ? (
      <EmptyState
        title={<Trans>No change matches the filters</Trans>}
        action={
          <Button onPress={() => change({ kind: undefined, decision: undefined, problem: undefined })}>
            <Trans>Clear filters</Trans>
          </Button>
        }
      />
    ) : (
      <EmptyState title={<Trans>No operation on this table</Trans>} />
    );
  return (
    <OperationList
      {...props}
      filter={filter}
      operations={operations}
      rowCount={data.pages[0]?.rowCount ?? operations.length}
      windows={{ hasNextPage, isFetchingNextPage, fetchNextPage }}
      tableKey={definition?.key}
      columns={columns}
      formats={formats}
      comments={comments}
      isNarrow={isNarrow}
    />
  );
}

/** Windows overlap when operations were decided, or taken out, between two of them. */
function distinct(operations: Operation[]): Operation[] {
  return [...new Map(operations.map((operation) => [operation.id, operation])).values()];
}

/**
 * The columns to show: the same object until others come, so that a decision doesn't draw all rows.
 */
function useColumns(operations: Operation[], table: Table | undefined): DiffColumns {
  const found = diffColumns(operations, table?.column_definitions ?? [], table?.lookup_display_column_id);
  const names = JSON.stringify(
    [found.keys, found.changed, found.unchanged].map((some) => some.map(({ name }) => name)),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: `names` is what matters of the operations.
  return useMemo(() => found, [names, table]);
}
