// One's own profile: name, password, how the console looks, and where one is signed in.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { meQuery } from '../api/queries.ts';
import pageStyles from '../parts/page.module.css';
import { Page } from '../parts/page.tsx';
import { ErrorState, Skeleton } from '../parts/states.tsx';
import { ConsoleLook } from './console-look.tsx';
import styles from './me.module.css';
import { NameForm } from './name-form.tsx';
import { OwnAccess } from './own-access.tsx';
import { PasswordForm } from './password-form.tsx';
import { SessionList } from './session-list.tsx';
import { SignOutButton } from './sign-out-button.tsx';

export function MePage() {
  const { t } = useLingui();
  const { data: me, error, refetch } = useQuery(meQuery);
  return (
    <Page title={t`Your profile`} note={me?.user?.email} actions={<SignOutButton />}>
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !me?.user ? (
        <Skeleton lines={8} />
      ) : (
        <>
          <Section id="name" title={<Trans>Name</Trans>}>
            <NameForm user={me.user} />
          </Section>
          <Section id="look" title={<Trans>How the console looks in this browser</Trans>}>
            <ConsoleLook />
          </Section>
          <Section id="access" title={<Trans>What you may do</Trans>}>
            <OwnAccess me={me} />
          </Section>
          <Section id="password" title={<Trans>Password</Trans>}>
            <PasswordForm />
          </Section>
          <Section id="sessions" title={<Trans>Where you are signed in</Trans>}>
            <SessionList />
          </Section>
          <Section id="applications" title={<Trans>Applications that act for you</Trans>}>
            <p className={styles.text}>
              <Trans>
                You see and withdraw them on the page of <a href="/oauth/applications">your applications</a>.
              </Trans>
            </p>
          </Section>
        </>
      )}
    </Page>
  );
}

function Section({ id, title, children }: { id: string; title: ReactNode; children: ReactNode }) {
  return (
    <section id={id} className={pageStyles.section} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {children}
    </section>
  );
}
