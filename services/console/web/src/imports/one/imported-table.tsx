// One table of an import: what became of the rows of its file, and, of a dry run, what would.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { definitionsQuery, tablesQuery } from '../../api/queries.ts';
import type { ChangeKind } from '../../diff/change-kinds.ts';
import { useNumbers } from '../../parts/files/use-numbers.ts';
import pageStyles from '../../parts/page.module.css';
import { ApplyPanel } from '../effect/apply-panel.tsx';
import { Effect } from '../effect/effect.tsx';
import { useImportWords } from '../import-words.ts';
import styles from '../imports.module.css';
import { LoadBar, LoadCounts } from '../load-counts.tsx';
import { Progress } from '../progress.tsx';
import { type ImportDetails, type ImportTable, isOpen, type Metrics } from '../queries.ts';
import type { Corrections } from '../rejected/corrections.ts';
import { Rejections } from '../rejected/rejections.tsx';

type ImportedTableProps = {
  given: ImportDetails;
  table: ImportTable;
  kind: ChangeKind | undefined;
  onKind: (kind: ChangeKind | undefined) => void;
};

export function ImportedTable({ given, table, kind, onKind }: ImportedTableProps) {
  const { t } = useLingui();
  const words = useImportWords();
  const { data: tables } = useQuery(tablesQuery(given.branch_id));
  const { data: definitions } = useQuery(definitionsQuery(given.branch_id));
  const isTable = ({ id }: { id: number }) => id === table.table_definition_id;
  const canImport = definitions?.find(isTable)?.can?.includes('import_rows') === true;
  const known = tables?.find(isTable);
  const name = known?.name ?? table.table_definition_key;
  const { name: status, style } = words.tableStatus[table.status];
  // Those that are entered and not checked yet.
  const [corrections, setCorrections] = useState<Corrections>(new Map());
  const isRunning = given.status === 'processing' && ['uploaded', 'processing'].includes(table.status);
  const hasLoaded = table.status === 'completed' || table.status === 'completed_with_errors';
  return (
    <>
      <div className={styles.head}>
        <h2>
          {known ? (
            <Link to="/t/$key" params={{ key: known.key }}>
              {name}
            </Link>
          ) : (
            name
          )}
        </h2>
        <span className={`${pageStyles.pill} ${style}`}>{status}</span>
        {table.dry_run && (
          <span className={pageStyles.pill}>
            <Trans>dry run</Trans>
          </span>
        )}
        <span>{words.pattern[table.pattern].name}</span>
      </div>
      {isRunning && <Progress label={t`Progress of ${name}`} progress={table.progress} />}
      {table.errors.length > 0 && (
        <ul className={styles.errors} aria-label={t`Why it failed`}>
          {table.errors.map((error) => (
            <li key={error}>{error}</li>
          ))}
        </ul>
      )}
      {table.metrics && (
        <div className={styles.summary}>
          {table.status !== 'failed' && (
            <>
              <p>
                <LoadCounts metrics={table.metrics} />
              </p>
              <LoadBar metrics={table.metrics} />
            </>
          )}
          <FileFacts table={table} metrics={table.metrics} />
        </div>
      )}
      {table.change_request_id !== null && (
        <p className={styles.notice}>
          <Link to="/requests/$id" params={{ id: String(table.change_request_id) }}>
            <Trans>Proposed as change request #{table.change_request_id}</Trans>
          </Link>
        </p>
      )}
      {hasLoaded && table.dry_run && table.applied_as === null && !isOpen(given) && (
        <ApplyPanel given={given} table={table} name={name} hasCorrections={corrections.size > 0} />
      )}
      <Rejections
        importId={given.id}
        table={table}
        canCorrect={canImport && !isOpen(given)}
        corrections={corrections}
        onCorrect={setCorrections}
      />
      {hasLoaded && table.dry_run && (
        <Effect table={table} columns={known?.column_definitions ?? []} kind={kind} onKind={onKind} />
      )}
    </>
  );
}

/** How much was read, of which format, and how long it took. */
function FileFacts({ table: { format }, metrics }: { table: ImportTable; metrics: Metrics }) {
  const { t } = useLingui();
  const { count, size, seconds } = useNumbers();
  const rows = count(metrics.rows_read);
  const facts = [t`${rows} rows read`, format.toUpperCase(), size(metrics.bytes), seconds(metrics.duration)];
  return <p className={styles.facts}>{facts.join(' · ')}</p>;
}
