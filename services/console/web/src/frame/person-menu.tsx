import { useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { LogOut, UserRound } from 'lucide-react';
import { meQuery } from '../api/queries.ts';
import { chooseLanguage, type Language, languages } from '../language/language.ts';
import { useSignOut } from '../me/use-sign-out.tsx';
import { ChoiceMenu } from '../parts/choice-menu.tsx';
import { chooseTheme, type Theme, useTheme } from '../styles/theme.ts';
import styles from './frame.module.css';

/** What a person sets for this browser, the way to their profile, and out. */
export function PersonMenu() {
  const { t, i18n } = useLingui();
  const { data: me } = useQuery(meQuery);
  const theme = useTheme();
  const navigate = useNavigate();
  const signOut = useSignOut();
  const name = me?.user?.name || me?.user?.email || '';
  const initials = me?.user?.initials || name.slice(0, 1).toUpperCase();
  const themeNames = [
    { id: 'system', name: t`As the system has it` },
    { id: 'light', name: t`Light` },
    { id: 'dark', name: t`Dark` },
  ];
  return (
    <>
      <ChoiceMenu
        label={t`Settings of ${name}`}
        groups={[
          {
            id: 'theme',
            title: t`Appearance`,
            choices: themeNames,
            chosen: theme,
            onChoose: (chosen) => chooseTheme(chosen as Theme),
          },
          {
            id: 'language',
            title: t`Language`,
            choices: Object.entries(languages).map(([id, name]) => ({ id, name })),
            chosen: i18n.locale,
            onChoose: (chosen) => void chooseLanguage(chosen as Language),
          },
        ]}
        actions={[
          {
            id: 'profile',
            name: t`Profile`,
            icon: <UserRound size={16} aria-hidden />,
            onAct: () => void navigate({ to: '/me' }),
          },
          { id: 'sign-out', name: t`Sign out`, icon: <LogOut size={16} aria-hidden />, onAct: signOut.start },
        ]}
      >
        <span className={styles.avatar} title={name}>
          {initials}
        </span>
      </ChoiceMenu>
      {signOut.dialog}
    </>
  );
}
