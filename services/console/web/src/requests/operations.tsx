// What a change request does to the rows of one table, a window of operations at a time.
import { Trans, useLingui } from '@lingui/react/macro';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { client, type Schemas } from '../api/client.ts';
import { type Column, tablesQuery } from '../api/queries.ts';
import { type CellFormats, cellFormats, plainText, valueText } from '../cells/cell-text.ts';
import { localeOf } from '../language/language.ts';
import { Button } from '../parts/button.tsx';
import pageStyles from '../parts/page.module.css';
import { EmptyState, ErrorState, Skeleton } from '../parts/states.tsx';
import { changedCells } from './changed-cells.ts';
import styles from './request.module.css';
import { useRequestWords } from './request-words.ts';

type Operation = Schemas['ChangeOperation'];

const windowSize = 100;

type OperationsProps = { request: Schemas['ChangeRequestDetails']; tableId: number };

export function Operations({ request, tableId }: OperationsProps) {
  const { i18n } = useLingui();
  const formats = useMemo(() => cellFormats(localeOf(i18n.locale)), [i18n.locale]);
  const { data: tables } = useQuery(tablesQuery(request.branch_id));
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useOperations(request, tableId);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton lines={8} />;
  const operations = data.pages.flatMap((page) => page.operations);
  if (operations.length === 0) return <EmptyState title={<Trans>No operation on this table</Trans>} />;
  const columns = tables?.find((table) => table.table_definition_id === tableId)?.column_definitions ?? [];
  return (
    <div>
      <div className={styles.operations}>
        <table>
          <thead>
            <tr>
              <th scope="col">
                <Trans>Change</Trans>
              </th>
              <th scope="col">
                <Trans>Row</Trans>
              </th>
              <th scope="col">
                <Trans>Values</Trans>
              </th>
              <th scope="col">
                <Trans>Decision</Trans>
              </th>
            </tr>
          </thead>
          <tbody>
            {operations.map((operation) => (
              <OperationRow key={operation.id} operation={operation} columns={columns} formats={formats} />
            ))}
          </tbody>
        </table>
      </div>
      {hasNextPage && (
        <div className={styles.more}>
          <Button isDisabled={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            <Trans>
              Show more: {operations.length} of {data.pages[0]?.rowCount ?? 0} are shown
            </Trans>
          </Button>
        </div>
      )}
    </div>
  );
}

function useOperations({ id, revision }: Schemas['ChangeRequestDetails'], tableId: number) {
  return useInfiniteQuery({
    queryKey: ['change_requests', 'one', id, 'operations', tableId, revision],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) =>
      client.get('/change_requests/{id}/operations', {
        params: {
          path: { id },
          query: { table_definition_id: tableId, startRow: pageParam, endRow: pageParam + windowSize },
        },
        signal,
      }),
    getNextPageParam: ({ rowCount }, _pages, before) =>
      before + windowSize < rowCount ? before + windowSize : undefined,
  });
}

type OperationRowProps = { operation: Operation; columns: Column[]; formats: CellFormats };

function OperationRow({ operation, columns, formats }: OperationRowProps) {
  const words = useRequestWords();
  const kind = words.kind[operation.kind];
  const decision = words.decision[operation.decision];
  const text = (name: string, value: unknown) => {
    const column = columns.find((one) => one.name === name);
    return (column ? valueText(value, column, formats) : plainText(value)) || '∅';
  };
  return (
    <tr>
      <td className={styles.kind}>
        <span className={`${styles.sign} ${styles[operation.kind]}`} aria-hidden>
          {kind.sign}
        </span>
        {kind.name}
      </td>
      <td className={styles.key}>{Object.values(operation.key).map(plainText).join(' · ')}</td>
      <td>
        <div className={styles.cells}>
          {changedCells(operation).map(({ name, before, after }) => (
            <div key={name} className={styles.cell}>
              <span className={styles.name}>{name}:</span>{' '}
              {before !== undefined && <del className={styles.before}>{text(name, before)}</del>}{' '}
              {after !== undefined && <ins className={styles.after}>{text(name, after)}</ins>}
            </div>
          ))}
          {operation.conflict && (
            <div className={styles.problem}>
              <Trans>Others have changed this row since.</Trans>
            </div>
          )}
          {operation.problems.map(({ message }) => (
            <div key={message} className={styles.problem}>
              {message}
            </div>
          ))}
        </div>
      </td>
      <td>
        <span className={`${pageStyles.pill} ${decision.style}`}>{decision.name}</span>
      </td>
    </tr>
  );
}
