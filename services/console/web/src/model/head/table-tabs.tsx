import { useLingui } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import styles from './table-tabs.module.css';

type TableTabsProps = {
  tableKey: string;
  /** A draft that was never deployed has no rows, and nothing uses it. */
  isDeployed?: boolean;
};

/** From one page of a table to the others. */
export function TableTabs({ tableKey: key, isDeployed = true }: TableTabsProps) {
  const { t } = useLingui();
  const look = { className: styles.tab, activeOptions: { exact: true, includeSearch: false } } as const;
  return (
    <nav className={styles.tabs} aria-label={t`Pages of the table`}>
      {isDeployed && (
        <Link to="/t/$key" params={{ key }} {...look}>
          {t`Rows`}
        </Link>
      )}
      <Link to="/t/$key/structure" params={{ key }} {...look}>
        {t`Structure`}
      </Link>
      {isDeployed && (
        <Link to="/t/$key/impact" params={{ key }} {...look}>
          {t`Impact`}
        </Link>
      )}
    </nav>
  );
}
