// Where the mapping comes from, and how the file writes dates and numbers.
import { Trans, useLingui } from '@lingui/react/macro';
import { localeOf } from '../../language/locale.ts';
import { CheckField, SelectField } from '../../parts/form/fields.tsx';
import styles from '../wizard.module.css';
import type { Draft } from './draft.ts';
import type { Mapping } from './mapping.ts';
import { type ChosenMapping, isSeparated } from './use-mapping.ts';

type MappingStyleProps = { chosen: ChosenMapping; draft: Draft; onChange: (part: Partial<Draft>) => void };

export function MappingStyle({ chosen, draft, onChange }: MappingStyleProps) {
  const { t } = useLingui();
  const sources = useSources(chosen);
  const { mapping, source } = chosen;
  const change = (part: Partial<Mapping>) => mapping && onChange({ mapping: { ...mapping, ...part } });
  return (
    <>
      <div className={styles.style}>
        {sources.length > 1 && (
          <SelectField
            name="source"
            label={t`Mapping`}
            options={sources}
            defaultValue={source}
            onChange={(id) => onChange({ source: id, mapping: undefined })}
          />
        )}
        {mapping && (
          <>
            <SelectField
              key={`date:${mapping.date_style}`}
              name="date_style"
              label={t`Dates of the file`}
              defaultValue={mapping.date_style}
              options={[
                { id: 'ISO', name: t`2024-01-31` },
                { id: 'DMY', name: t`31.01.2024: day first` },
                { id: 'MDY', name: t`01/31/2024: month first` },
              ]}
              onChange={(id) => change({ date_style: id as Mapping['date_style'] })}
            />
            {isSeparated(chosen) && (
              <SelectField
                key={`decimal:${mapping.decimal_separator}`}
                name="decimal_separator"
                label={t`Numbers of the file`}
                defaultValue={mapping.decimal_separator ?? ''}
                options={[
                  { id: '', name: t`1234.5` },
                  { id: '.', name: t`1,234.5: decimal point` },
                  { id: ',', name: t`1.234,5: decimal comma` },
                ]}
                onChange={(id) => change({ decimal_separator: id === '' ? null : (id as '.' | ',') })}
              />
            )}
          </>
        )}
      </div>
      {mapping && isSeparated(chosen) && (
        <CheckField
          name="has_header"
          isChecked={draft.hasHeader}
          label={<Trans>The first line has the names of the columns</Trans>}
          onChange={(hasHeader) => onChange({ hasHeader, source: undefined, mapping: undefined })}
        />
      )}
    </>
  );
}

function useSources({ guess, saved, last }: ChosenMapping): { id: string; name: string }[] {
  const { t, i18n } = useLingui();
  const format = new Intl.DateTimeFormat(localeOf(i18n.locale), { dateStyle: 'medium' });
  const first =
    guess === null
      ? { id: 'names', name: t`By the names of the columns` }
      : { id: 'guess', name: t`Guessed from this file` };
  const date = last && format.format(new Date(last.at));
  return [
    first,
    ...(guess !== null && last !== undefined ? [{ id: 'last', name: t`As last time, ${date}` }] : []),
    ...saved.map(({ id, name, is_default }) => ({ id: String(id), name: is_default ? t`${name} (default)` : name })),
  ];
}
