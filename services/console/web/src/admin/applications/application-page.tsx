// One application: its id, its scopes and its secrets.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { Notice } from '../../parts/blocks/notice.tsx';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/form/confirm-dialog.tsx';
import pageStyles from '../../parts/page.module.css';
import { Page } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { type Application, applicationsQuery } from '../queries.ts';
import { useIsAdministrator } from '../use-is-administrator.ts';
import { ForAdministrators } from '../who-administers.tsx';
import { ApplicationDialog } from './application-dialog.tsx';
import { ApplicationFacts } from './application-facts.tsx';
import { Secrets } from './secrets.tsx';

export function ApplicationPage() {
  const { t } = useLingui();
  const id = Number(useParams({ from: '/admin/applications/$id' }).id);
  const isAdministrator = useIsAdministrator();
  const { data, error, refetch } = useQuery({ ...applicationsQuery, enabled: Boolean(isAdministrator) });
  if (isAdministrator === false)
    return <ForAdministrators page={t`Applications`} reason={<Trans>Only administrators see applications</Trans>} />;
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data)
    return (
      <Page title={t`Application`}>
        <Skeleton lines={6} />
      </Page>
    );
  const application = data.find((one) => one.id === id);
  if (application) return <OpenApplication application={application} />;
  return (
    <EmptyState
      title={<Trans>There is no such application</Trans>}
      action={
        <Link to="/admin/applications">
          <Trans>All applications</Trans>
        </Link>
      }
    />
  );
}

function OpenApplication({ application }: { application: Application }) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const [opened, setOpened] = useState<'edit' | 'delete'>();
  const close = () => setOpened(undefined);
  const { id, name } = application;
  const remove = useAct(() => client.delete('/oauth_applications/{id}', { params: { path: { id } } }), {
    changes: [['oauth_applications']],
    onDone: () => void navigate({ to: '/admin/applications' }),
  });
  return (
    <Page
      title={name}
      actions={
        <div className={pageStyles.tools}>
          <Button onPress={() => setOpened('edit')}>
            <Trans>Change…</Trans>
          </Button>
          <Button onPress={() => setOpened('delete')}>
            <Trans>Delete…</Trans>
          </Button>
        </div>
      }
    >
      <section className={pageStyles.section} aria-label={name}>
        <ApplicationFacts application={application} />
      </section>
      {application.confidential ? (
        <Secrets application={application} />
      ) : (
        <Notice>
          <Trans>
            It has no secret: people sign in through it, and are asked each time where it runs on their own machine.
          </Trans>
        </Notice>
      )}
      {opened === 'edit' && <ApplicationDialog application={application} onClose={close} onDone={close} />}
      {opened === 'delete' && (
        <ConfirmDialog
          label={t`Delete ${name}?`}
          submit={<Trans>Delete the application</Trans>}
          act={remove}
          onClose={close}
        >
          <Trans>
            Its secrets and tokens stop working within a second or two, and what runs with them fails. This can’t be
            taken back.
          </Trans>
        </ConfirmDialog>
      )}
    </Page>
  );
}
