// What would feel a change of a table: tables that refer to it, programs and people that use it,
// and requests that are open.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Table } from '../../api/queries.ts';
import { LineList } from '../../parts/blocks/line-list.tsx';
import pageStyles from '../../parts/page.module.css';
import { Page } from '../../parts/page.tsx';
import { ErrorState, Skeleton } from '../../parts/states.tsx';
import { RequestLine } from '../../requests/list/request-line.tsx';
import { DeployedTable } from '../head/deployed-table.tsx';
import { TableTabs } from '../head/table-tabs.tsx';
import { openRequestsQuery } from './queries.ts';
import { ReferringTables } from './referring-list.tsx';
import { Users } from './users.tsx';

export function ImpactPage() {
  const { t } = useLingui();
  const { key } = useParams({ from: '/t/$key/impact' });
  return (
    <DeployedTable
      tableKey={key}
      waiting={
        <Page title={t`Impact`}>
          <Skeleton lines={10} />
        </Page>
      }
    >
      {(table, tables) => (
        <Page
          title={table.name}
          note={<Trans>What a change of this table reaches</Trans>}
          actions={<TableTabs tableKey={table.key} />}
        >
          <Part id="referring" title={<Trans>Tables that refer to it</Trans>}>
            <ReferringTables table={table} tables={tables} />
          </Part>
          <Part id="users" title={<Trans>Used in the last 30 days by</Trans>}>
            <Users tableId={table.id} />
          </Part>
          <Part id="requests" title={<Trans>Open change requests</Trans>}>
            <OpenRequests table={table} />
          </Part>
        </Page>
      )}
    </DeployedTable>
  );
}

function Part({ id, title, children }: { id: string; title: ReactNode; children: ReactNode }) {
  return (
    <section className={pageStyles.section} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {children}
    </section>
  );
}

function OpenRequests({ table: { id } }: { table: Table }) {
  const { data: requests, error, refetch } = useQuery(openRequestsQuery(id));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!requests) return <Skeleton lines={2} />;
  if (requests.length === 0)
    return (
      <p>
        <Trans>No change request changes its rows.</Trans>
      </p>
    );
  return <LineList items={requests}>{(request) => <RequestLine request={request} isBranchShown={false} />}</LineList>;
}
