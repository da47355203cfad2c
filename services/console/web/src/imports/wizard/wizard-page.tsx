// The wizard: a file becomes rows of a table in four steps, and nothing changes before the last.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTables } from '../../address/use-branch.ts';
import { meQuery } from '../../api/queries.ts';
import { Page } from '../../parts/page.tsx';
import { ErrorState, Skeleton } from '../../parts/states.tsx';
import { NoTables } from '../../tables/no-tables.tsx';
import { Wizard } from './wizard.tsx';

export function WizardPage() {
  const { t } = useLingui();
  const { branch, data, error, retry } = useTables();
  const me = useQuery(meQuery);
  return (
    <Page
      title={t`Import a file`}
      note={branch && <Trans>into a table of the branch {branch.name}</Trans>}
      actions={
        <Link to="/imports">
          <Trans>All imports</Trans>
        </Link>
      }
    >
      {(error ?? me.error) ? (
        <ErrorState error={error ?? me.error} onRetry={error ? retry : () => void me.refetch()} />
      ) : !branch || !data || !me.data ? (
        <Skeleton lines={10} />
      ) : data.length === 0 ? (
        <NoTables />
      ) : (
        // Another branch has other tables: what was chosen for one is no choice for the other.
        <Wizard key={branch.id} branch={branch} tables={data} dateStyle={me.data.account.date_style} />
      )}
    </Page>
  );
}
