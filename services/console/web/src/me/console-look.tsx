import { Trans, useLingui } from '@lingui/react/macro';
import { chooseLanguage, type Language, languages } from '../language/language.ts';
import { SelectField } from '../parts/form/fields.tsx';
import formStyles from '../parts/form/form.module.css';
import { chooseTheme, type Theme, useTheme } from '../styles/theme.ts';
import styles from './me.module.css';

/** Language and appearance. They count at once, and are kept in this browser. */
export function ConsoleLook() {
  const { t, i18n } = useLingui();
  const theme = useTheme();
  return (
    <div className={`${formStyles.form} ${styles.narrow}`}>
      <SelectField
        key={i18n.locale}
        name="language"
        label={<Trans>Language</Trans>}
        options={Object.entries(languages).map(([id, name]) => ({ id, name }))}
        defaultValue={i18n.locale}
        onChange={(chosen) => void chooseLanguage(chosen as Language)}
      />
      <SelectField
        key={`theme:${theme}`}
        name="theme"
        label={<Trans>Appearance</Trans>}
        options={[
          { id: 'system', name: t`As the system has it` },
          { id: 'light', name: t`Light` },
          { id: 'dark', name: t`Dark` },
        ]}
        defaultValue={theme}
        onChange={(chosen) => chooseTheme(chosen as Theme)}
      />
    </div>
  );
}
