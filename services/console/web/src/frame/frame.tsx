// What is around every page: the bar at the top, the rail at the side, and what opens over them.
import { Trans } from '@lingui/react/macro';
import { Outlet, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { type Act, useShortcuts } from '../keys/shortcuts.ts';
import styles from './frame.module.css';
import { Help } from './help.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import { Rail } from './rail.tsx';
import { TopBar } from './top-bar.tsx';

const LiveAnswers = lazy(async () => ({ default: (await import('../live/live-answers.tsx')).LiveAnswers }));
const OutOfDate = lazy(async () => ({ default: (await import('../live/out-of-date.tsx')).OutOfDate }));
const Palette = lazy(async () => ({ default: (await import('../palette/palette.tsx')).Palette }));

export function Frame() {
  const navigate = useNavigate();
  const [opened, setOpened] = useState<'palette' | 'help'>();
  const act = (what: Act) => {
    if (what === 'palette' || what === 'help') setOpened(what);
    else if (what === 'home') void navigate({ to: '/' });
    else if (what === 'tables') void navigate({ to: '/tables' });
    else if (what === 'requests') void navigate({ to: '/requests' });
    else if (what === 'search') document.querySelector<HTMLElement>('[data-page-search]')?.focus();
    else if (what === 'panel') document.querySelector<HTMLElement>('[data-close-panel]')?.click();
  };
  useShortcuts(act);
  const close = () => setOpened(undefined);
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#content">
        <Trans>Skip to the content</Trans>
      </a>
      <TopBar onSearch={() => act('palette')} />
      <Rail onSearch={() => act('palette')} onHelp={() => act('help')} />
      <Suspense>
        <OutOfDate />
      </Suspense>
      <main id="content" tabIndex={-1} className={styles.content}>
        <Outlet />
      </main>
      {opened === 'palette' && (
        <Suspense>
          <Palette onClose={close} onAct={act} />
        </Suspense>
      )}
      {opened === 'help' && <Help onClose={close} />}
      <PasswordDialog />
      <Suspense>
        <LiveAnswers />
      </Suspense>
    </div>
  );
}
