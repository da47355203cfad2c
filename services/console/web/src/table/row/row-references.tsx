import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Filters, writeFilters } from '../../address/view.ts';
import { type RowPlace, referencesQuery } from '../../api/queries.ts';
import { localeOf } from '../../language/locale.ts';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import styles from './row-panel.module.css';

/** The tables whose rows refer to this one, each a link to those rows. */
export function RowReferences({ place }: { place: RowPlace }) {
  const { i18n } = useLingui();
  const { data, error, refetch } = useQuery(referencesQuery(place));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton lines={3} />;
  const found = data.references.filter(({ count }) => count > 0);
  if (found.length === 0) return <EmptyState title={<Trans>No row refers to this one</Trans>} />;
  const counts = new Intl.NumberFormat(localeOf(i18n.locale));
  return (
    <ul className={styles.references}>
      {found.map(({ table_definition_id, table_definition_key, name, columns, count, is_exact, filterModel }) => (
        <li key={`${table_definition_id}:${columns.join()}`}>
          <Link
            to="/t/$key"
            params={{ key: table_definition_key }}
            search={(search) => ({ branch: search.branch, filter: writeFilters(filterModel as Filters) })}
          >
            <span>
              {name} <span className={styles.none}>{columns.join(', ')}</span>
            </span>
            <span className={styles.count}>
              {counts.format(count)}
              {is_exact ? '' : '+'}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
