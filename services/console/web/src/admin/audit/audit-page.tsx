// Who did what: the audit log, a page at a time.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { LineList } from '../../parts/blocks/line-list.tsx';
import { Page } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { useIsAdministrator } from '../use-is-administrator.ts';
import { ForAdministrators } from '../who-administers.tsx';
import { AuditFilters } from './audit-filters.tsx';
import { AuditLine } from './audit-line.tsx';
import { AuditPages } from './audit-pages.tsx';
import { auditQuery } from './audit-query.ts';
import { isFiltered } from './audit-view.ts';

export function AuditPage() {
  const { t } = useLingui();
  const isAdministrator = useIsAdministrator();
  if (isAdministrator === undefined) return <Skeleton lines={8} />;
  if (!isAdministrator)
    return <ForAdministrators page={t`Audit log`} reason={<Trans>Only administrators read the audit log</Trans>} />;
  return (
    <Page
      title={t`Audit log`}
      note={<Trans>Administrative acts, log-ins and refused attempts. Entries never change.</Trans>}
    >
      <AuditFilters />
      <AuditEntries />
    </Page>
  );
}

function AuditEntries() {
  const view = useSearch({ from: '/admin/audit' });
  const { data, error, refetch } = useQuery(auditQuery(view));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton lines={10} />;
  if (data.data.length === 0)
    return (
      <EmptyState
        title={isFiltered(view) ? <Trans>No entry matches the filters</Trans> : <Trans>There is no entry here</Trans>}
        action={
          <Link to="/admin/audit" search={{}}>
            <Trans>Show all entries</Trans>
          </Link>
        }
      />
    );
  return (
    <>
      <AuditPages meta={data.meta} />
      <LineList items={data.data}>{(event) => <AuditLine event={event} isOpen={event.id === view.event} />}</LineList>
    </>
  );
}
