// The account: its plan, what it has used, what it may, and whether its payment is overdue.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Notice } from '../../parts/blocks/notice.tsx';
import { Button } from '../../parts/button.tsx';
import pageStyles from '../../parts/page.module.css';
import { Page } from '../../parts/page.tsx';
import { ErrorState, Skeleton } from '../../parts/states.tsx';
import { accountQuery } from '../queries.ts';
import { useIsAdministrator } from '../use-is-administrator.ts';
import { WhoAdministers } from '../who-administers.tsx';
import { AccountDialog } from './account-dialog.tsx';
import { AccountFacts } from './account-facts.tsx';
import { Allowance } from './allowance.tsx';
import { BillingNotice } from './billing-notice.tsx';
import { Statements } from './statements.tsx';

export function AccountPage() {
  const { t } = useLingui();
  const { data: account, error, refetch } = useQuery(accountQuery);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!account)
    return (
      <Page title={t`Account`}>
        <Skeleton lines={8} />
      </Page>
    );
  return <OpenAccount account={account} />;
}

function OpenAccount({ account }: { account: Schemas['Account'] }) {
  const { t } = useLingui();
  const isAdministrator = useIsAdministrator();
  const [isChanging, setIsChanging] = useState(false);
  const [isSaved, setIsSaved] = useState(false);
  return (
    <Page
      title={t`Account`}
      note={account.name}
      actions={
        isAdministrator && (
          <Button onPress={() => setIsChanging(true)}>
            <Trans>Change…</Trans>
          </Button>
        )
      }
    >
      <BillingNotice account={account} />
      <WhoAdministers what={<Trans>Administrators change the account.</Trans>} />
      {isSaved && (
        <Notice kind="done">
          <Trans>The account is changed.</Trans>
        </Notice>
      )}
      <section className={pageStyles.section} aria-labelledby="allowance-title">
        <h2 id="allowance-title">
          <Trans>API calls this month</Trans>
        </h2>
        <Allowance account={account} />
        <p>
          <Link to="/admin/usage">
            <Trans>Who calls what, by day</Trans>
          </Link>
        </p>
      </section>
      <section className={pageStyles.section} aria-labelledby="plan-title">
        <h2 id="plan-title">
          <Trans>Plan and limits</Trans>
        </h2>
        <AccountFacts account={account} isAdministrator={isAdministrator ?? false} />
      </section>
      <Statements />
      {isChanging && (
        <AccountDialog
          account={account}
          onClose={() => setIsChanging(false)}
          onSaved={() => {
            setIsChanging(false);
            setIsSaved(true);
          }}
        />
      )}
    </Page>
  );
}
