// The applications that call the API with an id and a secret, or that people use.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { AppWindow } from 'lucide-react';
import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { LineList } from '../../parts/blocks/line-list.tsx';
import { Button } from '../../parts/button.tsx';
import pageStyles from '../../parts/page.module.css';
import { Page } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { type Application, applicationsQuery } from '../queries.ts';
import { useIsAdministrator } from '../use-is-administrator.ts';
import { ForAdministrators } from '../who-administers.tsx';
import { ApplicationDialog } from './application-dialog.tsx';
import { NewSecret } from './new-secret.tsx';
import { type Scope, useScopeWords } from './use-scope-words.ts';

export function ApplicationsPage() {
  const { t } = useLingui();
  const isAdministrator = useIsAdministrator();
  if (isAdministrator === undefined) return <Skeleton lines={8} />;
  if (!isAdministrator)
    return <ForAdministrators page={t`Applications`} reason={<Trans>Only administrators see applications</Trans>} />;
  return <AllApplications />;
}

function AllApplications() {
  const { t } = useLingui();
  const navigate = useNavigate();
  const { q = '' } = useSearch({ from: '/admin/applications' });
  const [isNew, setIsNew] = useState(false);
  const [made, setMade] = useState<Schemas['OauthApplicationWithSecret']>();
  const open = ({ id }: Pick<Application, 'id'>) =>
    void navigate({ to: '/admin/applications/$id', params: { id: String(id) } });
  const search = (typed: string) =>
    void navigate({ to: '/admin/applications', search: { q: typed || undefined }, replace: true });
  return (
    <Page
      title={t`Applications`}
      note={<Trans>Programs that call the API, each with its own id.</Trans>}
      actions={
        <div className={pageStyles.tools}>
          <SearchBox label={t`Search applications`} value={q} onChange={search} />
          <Button kind="primary" onPress={() => setIsNew(true)}>
            <Trans>New application…</Trans>
          </Button>
        </div>
      }
    >
      <ApplicationList typed={q} onNew={() => setIsNew(true)} />
      {isNew && (
        <ApplicationDialog
          onClose={() => setIsNew(false)}
          onDone={(application) => {
            setIsNew(false);
            if ('client_secret' in application && application.client_secret !== null) setMade(application);
            else open(application);
          }}
        />
      )}
      {made && <NewSecret application={made} secret={made.client_secret ?? ''} onClose={() => open(made)} />}
    </Page>
  );
}

function ApplicationList({ typed, onNew }: { typed: string; onNew: () => void }) {
  const { data: applications, error, refetch } = useQuery(applicationsQuery);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!applications) return <Skeleton lines={6} />;
  if (applications.length === 0)
    return (
      <EmptyState
        title={<Trans>No application yet</Trans>}
        action={
          <Button kind="primary" onPress={onNew}>
            <Trans>New application…</Trans>
          </Button>
        }
      >
        <Trans>A program that reads or changes data needs one, with an id and a secret.</Trans>
      </EmptyState>
    );
  const found = applications.filter(({ name, client_id }) =>
    `${name} ${client_id}`.toLowerCase().includes(typed.trim().toLowerCase()),
  );
  if (found.length === 0)
    return (
      <EmptyState
        title={<Trans>No application matches “{typed}”</Trans>}
        action={
          <Link to="/admin/applications" search={{}}>
            <Trans>Show all applications</Trans>
          </Link>
        }
      />
    );
  return <LineList items={found}>{(application) => <ApplicationLine application={application} />}</LineList>;
}

function ApplicationLine({ application }: { application: Application }) {
  const words = useScopeWords();
  const names = application.scopes.split(' ').map((scope) => words[scope as Scope]?.name ?? scope);
  return (
    <Link to="/admin/applications/$id" params={{ id: String(application.id) }} className={pageStyles.line}>
      <AppWindow size={18} aria-hidden />
      <span className={pageStyles.text}>
        <span className={pageStyles.name}>{application.name}</span>{' '}
        {!application.confidential && (
          <span className={pageStyles.pill}>
            <Trans>without secret</Trans>
          </span>
        )}
        <span className={pageStyles.note}>
          {names.join(', ')} · <code>{application.client_id}</code>
        </span>
      </span>
      <span className={pageStyles.end}>
        <Time instant={application.created_at} />
      </span>
    </Link>
  );
}
