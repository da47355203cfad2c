import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import { historyQuery, type Row, type RowPlace, type Table } from '../../api/queries.ts';
import { type CellFormats, valueText } from '../../cells/cell-text.ts';
import { Button } from '../../parts/button.tsx';
import { Person } from '../../parts/person.tsx';
import { ErrorState, Skeleton } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import styles from './row-panel.module.css';

type Version = Schemas['RecordVersion'];
type RowHistoryProps = {
  place: RowPlace;
  table: Table;
  formats: CellFormats;
  /** Gives the row the values of a version. */
  onBringBack: ((past: Row) => void) | undefined;
};

/** The versions of a row, the newest first, each with the cells that it changed. */
export function RowHistory({ place, table, formats, onBringBack }: RowHistoryProps) {
  const { data, error, refetch } = useQuery(historyQuery(place));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton />;
  const versions = data.data.toSorted((a, b) => b.svc_version - a.svc_version);
  const total = data.meta.total_count;
  return (
    <>
      <ol className={styles.versions}>
        {versions.map((version, place) => (
          <VersionItem
            key={version.svc_version}
            version={version}
            before={versions[place + 1]}
            table={table}
            formats={formats}
            onBringBack={version.valid_to === null ? undefined : onBringBack}
          />
        ))}
      </ol>
      {total > versions.length && (
        <p className={styles.none}>
          <Trans>
            These are {versions.length} of {total} versions.
          </Trans>
        </p>
      )}
    </>
  );
}

type VersionItemProps = Pick<RowHistoryProps, 'table' | 'formats' | 'onBringBack'> & {
  version: Version;
  before: Version | undefined;
};

function VersionItem({ version, before, table, formats, onBringBack }: VersionItemProps) {
  const { t } = useLingui();
  const actions: Record<Version['action'], string> = {
    created: t`created`,
    updated: t`changed`,
    deleted: t`deleted`,
    restored: t`restored`,
    reverted: t`set back`,
  };
  const columns = table.column_definitions.filter(({ name }) => version.changed_columns?.includes(name));
  const value = (of: Version | undefined, column: (typeof columns)[number]) =>
    valueText((of?.record as Record<string, unknown> | undefined)?.[column.name], column, formats) || '∅';
  return (
    <li className={styles.version}>
      <p>
        <strong>{actions[version.action]}</strong> <Time instant={version.valid_from} />
      </p>
      <p className={styles.by}>
        <Person id={version.user_id} /> · {version.channel ?? t`unknown`} · <Trans>version {version.svc_version}</Trans>
      </p>
      {before && columns.length > 0 && (
        <ul className={styles.changes}>
          {columns.map((column) => (
            <li key={column.id} className={styles.change}>
              {column.name}: <span className={styles.before}>{value(before, column)}</span> → {value(version, column)}
            </li>
          ))}
        </ul>
      )}
      {onBringBack && version.action !== 'deleted' && (
        <Button kind="quiet" onPress={() => onBringBack(version.record as Row)}>
          <Trans>Bring version {version.svc_version} back</Trans>
        </Button>
      )}
    </li>
  );
}
