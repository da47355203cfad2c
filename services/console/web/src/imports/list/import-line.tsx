import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FileUp } from 'lucide-react';
import { tablesQuery } from '../../api/queries.ts';
import pageStyles from '../../parts/page.module.css';
import { Person } from '../../parts/person.tsx';
import { Time } from '../../parts/time.tsx';
import { useImportWords } from '../import-words.ts';
import styles from '../imports.module.css';
import { LoadBar, LoadCounts } from '../load-counts.tsx';
import type { Import } from '../queries.ts';
import { sumOfMetrics } from './sum-of-metrics.ts';

/** An import in the list: its tables, its state, who opened it, and what became of the rows. */
export function ImportLine({ given }: { given: Import }) {
  const { status } = useImportWords();
  const { data: tables } = useQuery(tablesQuery(given.branch_id));
  const { name, style } = status[given.status];
  const loaded = given.import_tables ?? [];
  const nameOf = (key: string) => tables?.find((table) => table.key === key)?.name ?? key;
  const metrics = sumOfMetrics(loaded.flatMap((table) => table.metrics ?? []));
  const more = (given.tables_count ?? 0) - loaded.length;
  return (
    <Link to="/imports/$id" params={{ id: String(given.id) }} className={pageStyles.line}>
      <FileUp size={18} aria-hidden />
      <span className={pageStyles.text}>
        <span className={pageStyles.name}>
          {loaded.length === 0 ? (
            <Trans>No table yet</Trans>
          ) : (
            loaded.map(({ table_definition_key }) => nameOf(table_definition_key)).join(', ')
          )}
          {more > 0 && (
            <>
              {' '}
              <Trans>and {more} more</Trans>
            </>
          )}
        </span>{' '}
        <span className={`${pageStyles.pill} ${style}`}>{name}</span>{' '}
        {loaded.some(({ dry_run }) => dry_run) && (
          <span className={pageStyles.pill}>
            <Trans>dry run</Trans>
          </span>
        )}
        <span className={styles.facts}>
          #{given.id} · <Person id={given.created_by} />
          {metrics && (
            <>
              {' · '}
              <LoadCounts metrics={metrics} />
            </>
          )}
        </span>
        {metrics && <LoadBar metrics={metrics} />}
      </span>
      <span className={pageStyles.end}>
        <Time instant={given.created_at} />
      </span>
    </Link>
  );
}
