// The rows on a phone: a card each, with the key, what the row is called and three more columns.
import { Trans, useLingui } from '@lingui/react/macro';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useMemo } from 'react';
import type { Column, Row, Table } from '../api/queries.ts';
import { type CellFormats, cellFormats, cellText } from '../cells/cell-text.ts';
import { type Edits, type RowEdit, shownRow } from '../edits/edits.ts';
import { fetchRows, type RowQuery } from '../grid/rows/row-source.ts';
import { localeOf } from '../language/locale.ts';
import { Button } from '../parts/button.tsx';
import { Skeleton } from '../parts/states.tsx';
import styles from './table.module.css';
import type { ShownView } from './use-view.ts';

type RowCardsProps = {
  table: Table;
  query: RowQuery;
  view: ShownView;
  /** It is not known yet which rows to show. */
  isWaiting: boolean;
  /** The rows are shown with them. */
  edits: Edits;
  onOpen: (id: number) => void;
  onLoaded: (rowCount: number) => void;
  onFailed: (error: unknown) => void;
};

const pageRows = 50;
const shownColumns = 4;

export function RowCards({ table, query, view, isWaiting, edits, onOpen, onLoaded, onFailed }: RowCardsProps) {
  const { i18n } = useLingui();
  const formats = useMemo(() => cellFormats(localeOf(i18n.locale)), [i18n.locale]);
  const { data, error, fetchNextPage, hasNextPage, isFetchingNextPage } = useRowPages(query, view, !isWaiting);
  const rowCount = data?.pages[0]?.rowCount;
  const loaded = useEffectEvent(onLoaded);
  const failed = useEffectEvent(onFailed);
  useEffect(() => {
    if (rowCount !== undefined) loaded(rowCount);
  }, [rowCount]);
  useEffect(() => {
    if (error) failed(error);
  }, [error]);
  const placeOf = new Map(view.columns.map(({ column, hidden }, place) => [column, { place, hidden }]));
  const columns = table.column_definitions
    .filter(({ name, is_primary_key }) => is_primary_key || !placeOf.get(name)?.hidden)
    .toSorted((a, b) => a.position - b.position)
    .toSorted((a, b) => (placeOf.get(a.name)?.place ?? Infinity) - (placeOf.get(b.name)?.place ?? Infinity) || 0);
  if (!data)
    return (
      <div className={styles.cards}>
        <Skeleton lines={8} />
      </div>
    );
  return (
    <div className={styles.cards} style={{ maxHeight: '100%', overflow: 'auto' }}>
      {data.pages
        .flatMap(({ rows }) => rows)
        .map((row) => (
          <Card
            key={row.svc_sk}
            row={row}
            edit={edits.get(row.svc_sk)}
            columns={columns}
            formats={formats}
            onOpen={onOpen}
          />
        ))}
      {hasNextPage && (
        <Button isDisabled={isFetchingNextPage} onPress={() => void fetchNextPage()}>
          <Trans>Show more rows</Trans>
        </Button>
      )}
    </div>
  );
}

function useRowPages(query: RowQuery, { filters, sort }: ShownView, enabled: boolean) {
  return useInfiniteQuery({
    enabled,
    queryKey: ['rows', query.tableId, 'cards', query, filters, sort],
    initialPageParam: 0,
    queryFn: ({ pageParam: start, signal }) =>
      fetchRows(query, { filters, sort, start, end: start + pageRows }, signal),
    getNextPageParam: ({ rowCount }, _pages, before) => (before + pageRows < rowCount ? before + pageRows : undefined),
  });
}

type CardProps = {
  row: Row;
  edit: RowEdit | undefined;
  columns: Column[];
  formats: CellFormats;
  onOpen: (id: number) => void;
};

function Card({ row: saved, edit, columns, formats, onOpen }: CardProps) {
  const row = shownRow(saved, edit);
  const keys = columns.filter(({ is_primary_key }) => is_primary_key);
  const others = columns
    .filter(({ name, is_primary_key }) => !is_primary_key && row[name] !== null)
    .slice(0, shownColumns);
  return (
    <button type="button" className={`${styles.card} ${edit ? styles.changed : ''}`} onClick={() => onOpen(row.svc_sk)}>
      <span className={styles.cardKey}>{keys.map((column) => cellText(row, column, formats)).join(' · ')}</span>
      <dl>
        {others.map((column) => (
          <div key={column.id} style={{ display: 'contents' }}>
            <dt>{column.name}</dt>
            <dd>{cellText(row, column, formats)}</dd>
          </div>
        ))}
      </dl>
      {edit && (
        <span className={styles.cardNote}>
          {edit.kind === 'delete' ? <Trans>to be deleted</Trans> : <Trans>changed, not saved</Trans>}
        </span>
      )}
    </button>
  );
}
