import { Trans } from '@lingui/react/macro';
import type { ReactNode } from 'react';
import { useTables } from '../../address/use-branch.ts';
import type { Table } from '../../api/queries.ts';
import { ErrorState } from '../../parts/states.tsx';
import { NoSuchTable } from './no-such-table.tsx';

type DeployedTableProps = {
  tableKey: string;
  /** Until it is found. */
  waiting: ReactNode;
  /** The page of the table; it gets the other tables of the branch too. */
  children: (table: Table, tables: Table[]) => ReactNode;
};

/** Finds a table by its key on the branch of the address. */
export function DeployedTable({ tableKey, waiting, children }: DeployedTableProps) {
  const { branch, data: tables, error, retry } = useTables();
  if (error) return <ErrorState error={error} onRetry={retry} />;
  const table = tables?.find(({ key }) => key === tableKey);
  if (tables && table) return children(table, tables);
  if (!tables || !branch) return waiting;
  return (
    <NoSuchTable tableKey={tableKey}>
      <Trans>It is not deployed on the branch {branch.name}, or you may not view it.</Trans>
    </NoSuchTable>
  );
}
