// A table: finds it by its key on the branch of the address, and shows its rows.
import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useOfBranch } from '../address/use-branch.ts';
import { meQuery, type Table, tablesQuery } from '../api/queries.ts';
import { TableTabs } from '../model/head/table-tabs.tsx';
import { useTitle } from '../parts/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../parts/states.tsx';
import { keepRecentTable } from '../tables/recent-tables.ts';
import styles from './table.module.css';
import { TableRows } from './table-rows.tsx';

export function TablePage() {
  const { key } = useParams({ from: '/t/$key' });
  const { branch, data, error, retry } = useOfBranch(tablesQuery);
  const { data: me } = useQuery(meQuery);
  if (error) return <ErrorState error={error} onRetry={retry} />;
  if (!data || !me)
    return (
      <div style={{ padding: 16 }}>
        <Skeleton lines={12} />
      </div>
    );
  const table = data.find((one) => one.key === key);
  if (!table)
    return (
      <EmptyState
        title={<Trans>There is no table “{key}” here</Trans>}
        action={
          <Link to="/tables">
            <Trans>All tables</Trans>
          </Link>
        }
      >
        <Trans>It is not deployed on the branch {branch?.name}, or you may not view it.</Trans>
      </EmptyState>
    );
  // Another table is another grid: nothing of the one before is kept.
  return <OpenTable key={table.id} table={table} tables={data} userId={me.user?.id ?? 0} />;
}

function OpenTable({ table, tables, userId }: { table: Table; tables: Table[]; userId: number }) {
  useTitle(table.name);
  useEffect(() => keepRecentTable(table.key), [table.key]);
  return (
    <div className={styles.table}>
      <div className={styles.head}>
        <h1>{table.name}</h1>
        <p>
          {table.domain.name}
          {table.description && ` · ${table.description}`}
        </p>
        <TableTabs tableKey={table.key} />
      </div>
      <TableRows table={table} tables={tables} userId={userId} />
    </div>
  );
}
