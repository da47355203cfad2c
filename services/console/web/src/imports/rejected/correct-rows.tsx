// The rejected rows of a file, to be corrected in place: the file is then checked again with them.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { Button } from '../../parts/button.tsx';
import { useNumbers } from '../../parts/files/use-numbers.ts';
import { TextField } from '../../parts/form/fields.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { isNoLongerKept } from '../effect/changes-query.ts';
import importStyles from '../imports.module.css';
import type { ImportTable } from '../queries.ts';
import { bodyOf, type Corrections, withCell, wrongColumns } from './corrections.ts';
import styles from './rejected.module.css';
import { type FileColumn, type RejectedRow, rejectedRowsQuery } from './rejected-rows-query.ts';

export type CorrectRowsProps = {
  table: ImportTable;
  /** Those that are not checked yet. */
  corrections: Corrections;
  onCorrect: (corrections: Corrections) => void;
};

export function CorrectRows({ table, corrections, onCorrect }: CorrectRowsProps) {
  const query = useInfiniteQuery(rejectedRowsQuery(table));
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = query;
  const act = useCorrection(table, () => onCorrect(new Map()));
  if (isNoLongerKept(error))
    return (
      <EmptyState title={<Trans>The rejected rows are no longer kept</Trans>}>
        <Trans>They are kept for a day after the file was checked. Import the file again to correct them here.</Trans>
      </EmptyState>
    );
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  const [first] = data?.pages ?? [];
  if (!data || !first) return <Skeleton lines={4} />;
  const { columns, rowCount } = first;
  const rows = data.pages.flatMap((page) => page.rows);
  return (
    <form
      className={styles.rows}
      onSubmit={(event) => {
        event.preventDefault();
        if (corrections.size > 0) act.mutate(bodyOf(corrections, columns));
      }}
    >
      {rows.map((row) => (
        <CorrectedRow
          key={row.row}
          row={row}
          columns={columns}
          entered={corrections.get(row.row)}
          onEnter={(position, text) => onCorrect(withCell(corrections, row, position, text))}
        />
      ))}
      {hasNextPage && (
        <Button isDisabled={isFetchingNextPage} onPress={() => void fetchNextPage()}>
          <Trans>
            Show more: {rows.length} of {rowCount} are shown
          </Trans>
        </Button>
      )}
      <Refusal error={act.error} />
      <div className={importStyles.actions}>
        <Button kind="primary" type="submit" isDisabled={corrections.size === 0 || act.isPending}>
          {table.dry_run ? (
            <Plural
              value={corrections.size}
              _0="Check again"
              one="Check again with # corrected row"
              other="Check again with # corrected rows"
            />
          ) : (
            <Plural
              value={corrections.size}
              _0="Load the file"
              one="Load the file with # corrected row"
              other="Load the file with # corrected rows"
            />
          )}
        </Button>
      </div>
    </form>
  );
}

function useCorrection({ import_id, id }: ImportTable, onDone: () => void) {
  return useAct(
    (body: ReturnType<typeof bodyOf>) => {
      const params = { path: { id: import_id, table_id: id } };
      return client.post('/imports/{id}/tables/{table_id}/correct', { params, body });
    },
    { changes: [['imports']], onDone },
  );
}

type CorrectedRowProps = {
  row: RejectedRow;
  columns: FileColumn[];
  entered: ReadonlyMap<number, string> | undefined;
  onEnter: (position: number, text: string) => void;
};

function CorrectedRow({ row, columns, entered, onEnter }: CorrectedRowProps) {
  const { t } = useLingui();
  const { count } = useNumbers();
  const [showsAll, setShowsAll] = useState(false);
  const wrong = wrongColumns(row, columns);
  const loaded = columns.flatMap(({ target }, position) => (target === null ? [] : [position]));
  const number = count(row.row);
  return (
    <fieldset className={styles.row}>
      <legend>
        <Trans>Row {number} of the file</Trans>
      </legend>
      <ul className={styles.reasons}>
        {row.problems.map(({ column, message }) => (
          <li key={`${column}:${message}`}>{message}</li>
        ))}
      </ul>
      <div className={styles.cells}>
        {(showsAll ? loaded : wrong).map((position) => (
          <TextField
            key={position}
            name={`${row.row}:${position}`}
            label={columns[position]?.name ?? ''}
            isCode
            value={entered?.get(position) ?? row.cells[position] ?? ''}
            onChange={(text) => onEnter(position, text)}
          />
        ))}
      </div>
      {loaded.length > wrong.length && (
        <Button
          aria-label={showsAll ? t`Only the wrong cells of row ${number}` : t`All cells of row ${number}`}
          onPress={() => setShowsAll(!showsAll)}
        >
          {showsAll ? <Trans>Only the wrong cells</Trans> : <Trans>All cells</Trans>}
        </Button>
      )}
    </fieldset>
  );
}
