import { Trans } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import { Table2 } from 'lucide-react';
import type { Table } from '../api/queries.ts';
import styles from '../parts/page.module.css';
import { Time } from '../parts/time.tsx';

type TableLineProps = {
  table: Table;
  /** The draft differs from what is in service. */
  isChanged?: boolean;
};

/** A table in a list, as a link to its rows. */
export function TableLine({ table, isChanged = false }: TableLineProps) {
  return (
    <Link to="/t/$key" params={{ key: table.key }} className={styles.line}>
      <Table2 size={18} aria-hidden />
      <span className={styles.text}>
        <span className={styles.name}>{table.name}</span>{' '}
        {table.load_type === 'source' && (
          <span className={styles.pill}>
            <Trans>from imports</Trans>
          </span>
        )}
        {isChanged && (
          <span className={`${styles.pill} ${styles.warn}`}>
            <Trans>changed draft</Trans>
          </span>
        )}
        <span className={styles.note}>{table.description ?? table.key}</span>
      </span>
      <span className={styles.end}>
        <Trans>
          deployed <Time instant={table.deployed_at} />
        </Trans>
      </span>
    </Link>
  );
}
