// A new table: from a spreadsheet, whose columns are guessed and whose rows are loaded, or by hand.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useBranch } from '../../address/use-branch.ts';
import { WhoAdministers } from '../../admin/who-administers.tsx';
import { meQuery } from '../../api/queries.ts';
import { Page } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { domainsQuery } from '../definition/queries.ts';
import { NewTable } from './new-table.tsx';

export function NewTablePage() {
  const { t } = useLingui();
  const { domain } = useSearch({ from: '/tables/new' });
  const { branch, error, retry } = useBranch();
  const me = useQuery(meQuery);
  const domains = useQuery(domainsQuery);
  const failure = error ?? me.error ?? domains.error;
  const again = () => void Promise.all([retry(), me.refetch(), domains.refetch()]);
  return (
    <Page title={t`New table`} note={branch && <Trans>on the branch {branch.name}</Trans>}>
      {failure ? (
        <ErrorState error={failure} onRetry={again} />
      ) : !branch || !me.data || !domains.data ? (
        <Skeleton lines={8} />
      ) : domains.data.length === 0 ? (
        <NoDomains />
      ) : (
        // Another branch has other tables: what was begun on one is nothing on the other.
        <NewTable key={branch.id} branch={branch} me={me.data} domains={domains.data} chosenDomain={domain} />
      )}
    </Page>
  );
}

function NoDomains() {
  return (
    <EmptyState
      title={<Trans>A table needs a domain to belong to</Trans>}
      action={
        <Link to="/tables">
          <Trans>Make a domain first</Trans>
        </Link>
      }
    >
      <WhoAdministers what={<Trans>Administrators make domains.</Trans>} />
    </EmptyState>
  );
}
