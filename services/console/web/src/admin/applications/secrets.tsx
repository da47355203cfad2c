// The secrets of an application: one, or two while one replaces the other.
import { Trans, useLingui } from '@lingui/react/macro';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { all } from '../../api/queries.ts';
import { useAct } from '../../api/use-act.ts';
import { LineList } from '../../parts/blocks/line-list.tsx';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/form/confirm-dialog.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import pageStyles from '../../parts/page.module.css';
import { ErrorState, Skeleton } from '../../parts/states.tsx';
import styles from '../admin.module.css';
import type { Application } from '../queries.ts';
import { NewSecret } from './new-secret.tsx';
import { SecretLine } from './secret-line.tsx';

const secretsQuery = (id: number) =>
  queryOptions({
    queryKey: ['oauth_applications', id, 'secrets'],
    queryFn: ({ signal }) =>
      all(
        client.list('/oauth_applications/{id}/secrets', {
          params: { path: { id }, query: { sort: 'created_at' } },
          signal,
        }),
      ),
  });

// The server takes a second secret beside the first, and no third.
const mostSecrets = 2;

export function Secrets({ application }: { application: Application }) {
  const { t } = useLingui();
  const { id } = application;
  const { data: secrets, error, refetch } = useQuery(secretsQuery(id));
  const [shown, setShown] = useState<string>();
  const [isReplacing, setIsReplacing] = useState(false);
  const changes = [['oauth_applications', id, 'secrets']];
  const add = useAct(() => client.post('/oauth_applications/{id}/secrets', { params: { path: { id } } }), {
    changes,
    onDone: ({ client_secret }) => setShown(client_secret),
  });
  const replace = useAct(
    () => client.post('/oauth_applications/{id}/regenerate_secret', { params: { path: { id } } }),
    {
      changes,
      onDone: ({ client_secret }) => {
        setIsReplacing(false);
        setShown(client_secret ?? undefined);
      },
    },
  );
  return (
    <section className={pageStyles.section} aria-labelledby="secrets-title">
      <div className={pageStyles.sectionHead}>
        <h2 id="secrets-title">
          <Trans>Secrets</Trans>
        </h2>
        <div className={pageStyles.tools}>
          {secrets && secrets.length < mostSecrets && (
            <Button onPress={() => add.mutate()} isDisabled={add.isPending}>
              {secrets.length === 0 ? <Trans>Add a secret</Trans> : <Trans>Add a second secret</Trans>}
            </Button>
          )}
          <Button onPress={() => setIsReplacing(true)}>
            <Trans>Replace all…</Trans>
          </Button>
        </div>
      </div>
      <p className={styles.help}>
        <Trans>
          To replace one without an interruption: add a second, give it to the program, and delete the first when it is
          no longer used.
        </Trans>
      </p>
      <Refusal error={add.error} />
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : secrets?.length === 0 ? (
        <p>
          <Trans>It has no secret yet, so it gets no token.</Trans>
        </p>
      ) : secrets ? (
        <LineList items={secrets}>
          {(secret) => (
            <SecretLine applicationId={id} secret={secret} isOnly={secrets.length === 1} changes={changes} />
          )}
        </LineList>
      ) : (
        <Skeleton lines={2} />
      )}
      {isReplacing && (
        <ConfirmDialog
          label={t`Replace all secrets of ${application.name}?`}
          submit={<Trans>Replace all secrets</Trans>}
          act={replace}
          onClose={() => setIsReplacing(false)}
        >
          <Trans>
            For a secret that has leaked. The old ones stop working at once: programs that have them fail until they
            have the new one. Tokens that were issued before end within two hours.
          </Trans>
        </ConfirmDialog>
      )}
      {shown && <NewSecret application={application} secret={shown} onClose={() => setShown(undefined)} />}
    </section>
  );
}
