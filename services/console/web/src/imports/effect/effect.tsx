// What a dry run would do to the rows of the table: how many of each kind, and which.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { Column } from '../../api/queries.ts';
import type { ChangeKind } from '../../diff/change-kinds.ts';
import { KindChoice } from '../../diff/kind-choice.tsx';
import { Button } from '../../parts/button.tsx';
import { useNumbers } from '../../parts/files/use-numbers.ts';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import styles from '../imports.module.css';
import type { ImportTable } from '../queries.ts';
import { changesQuery, isNoLongerKept } from './changes-query.ts';
import { EffectRows } from './effect-rows.tsx';

type EffectProps = {
  table: ImportTable;
  columns: Column[];
  kind: ChangeKind | undefined;
  onKind: (kind: ChangeKind | undefined) => void;
};

export function Effect({ table, columns, kind, onKind }: EffectProps) {
  const { inserted = 0, updated = 0, deleted = 0 } = table.metrics ?? {};
  const counts = { created: inserted, updated, deleted };
  const total = inserted + updated + deleted;
  const titleId = `effect-${table.id}`;
  return (
    <section className={styles.part} aria-labelledby={titleId}>
      <h3 id={titleId}>
        {total === 0 ? (
          <Trans>No row would change</Trans>
        ) : (
          <Plural value={total} one="# row would change" other="# rows would change" />
        )}
      </h3>
      {total > 0 && (
        <>
          <KindChoice counts={counts} chosen={kind} onChoose={onKind} />
          <ChangedRows table={table} columns={columns} kind={kind} onAll={() => onKind(undefined)} />
        </>
      )}
    </section>
  );
}

type ChangedRowsProps = {
  table: ImportTable;
  columns: Column[];
  kind: ChangeKind | undefined;
  onAll: () => void;
};

function ChangedRows({ table, columns, kind, onAll }: ChangedRowsProps) {
  const { t } = useLingui();
  const { count } = useNumbers();
  const query = useInfiniteQuery(changesQuery(table, kind));
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = query;
  if (isNoLongerKept(error))
    return (
      <EmptyState title={<Trans>The rows are no longer kept</Trans>}>
        <Trans>They are kept for a day after the dry run. Import the file again to see them.</Trans>
      </EmptyState>
    );
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton lines={8} />;
  const changes = data.pages.flatMap((page) => page.rows);
  const kept = data.pages[0];
  if (changes.length === 0)
    return (
      <EmptyState
        title={<Trans>No row would change in this way</Trans>}
        action={
          <Button onPress={onAll}>
            <Trans>Show all kinds</Trans>
          </Button>
        }
      />
    );
  const [shown, total] = [count(changes.length), count(kept?.rowCount ?? 0)];
  return (
    <>
      <EffectRows label={t`Rows that would change`} changes={changes} columns={columns} />
      <div className={`${styles.actions} ${styles.more}`}>
        {hasNextPage && (
          <Button isDisabled={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            <Trans>
              Show more: {shown} of {total} are shown
            </Trans>
          </Button>
        )}
        {kept?.truncated && (
          <span>
            <Trans>Only the first {total} rows are kept for this list.</Trans>
          </span>
        )}
      </div>
    </>
  );
}
