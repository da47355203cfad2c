import { useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { meQuery } from '../api/queries.ts';
import { chooseLanguage, type Language, languages } from '../language/language.ts';
import { ChoiceMenu } from '../parts/choice-menu.tsx';
import styles from './frame.module.css';
import { chooseTheme, type Theme, useTheme } from './theme.ts';

/** What a person sets for this browser: light or dark, and the language. */
export function PersonMenu() {
  const { t, i18n } = useLingui();
  const { data: me } = useQuery(meQuery);
  const theme = useTheme();
  const name = me?.user?.name || me?.user?.email || '';
  const initials = me?.user?.initials || name.slice(0, 1).toUpperCase();
  const themeNames = [
    { id: 'system', name: t`As the system has it` },
    { id: 'light', name: t`Light` },
    { id: 'dark', name: t`Dark` },
  ];
  return (
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
    >
      <span className={styles.avatar} title={name}>
        {initials}
      </span>
    </ChoiceMenu>
  );
}
