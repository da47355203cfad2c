// A table: finds it by its key on the branch of the address, and shows its rows.
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { meQuery, type Table } from '../api/queries.ts';
import { DeployedTable } from '../model/head/deployed-table.tsx';
import { TableTabs } from '../model/head/table-tabs.tsx';
import { useTitle } from '../parts/page.tsx';
import { Skeleton } from '../parts/states.tsx';
import { useHasPainted } from '../parts/use-has-painted.ts';
import { keepRecentTable } from '../tables/recent-tables.ts';
import styles from './table.module.css';
import { TableRows } from './table-rows.tsx';

export function TablePage() {
  const { key } = useParams({ from: '/t/$key' });
  const { data: me } = useQuery(meQuery);
  const isPainted = useHasPainted();
  const waiting = (
    <div style={{ padding: 16 }}>
      <Skeleton lines={12} />
    </div>
  );
  // Another table is another grid: nothing of the one before is kept.
  return (
    <DeployedTable tableKey={key} waiting={waiting}>
      {(table, tables) =>
        me && isPainted ? <OpenTable key={table.id} table={table} tables={tables} userId={me.user?.id ?? 0} /> : waiting
      }
    </DeployedTable>
  );
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
