// The second step: which column of the file fills which column of the table.
import { Trans, useLingui } from '@lingui/react/macro';
import type { Table } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorState, Skeleton } from '../../parts/states.tsx';
import importStyles from '../imports.module.css';
import { sampleValues } from '../sample/sample-values.ts';
import styles from '../wizard.module.css';
import { ColumnProblems } from './column-problems.tsx';
import { ColumnsList } from './columns-list.tsx';
import type { Draft } from './draft.ts';
import { HiddenColumns } from './hidden-columns.tsx';
import { filledTwice, isForEditing, type Mapping, missingTargets } from './mapping.ts';
import { MappingStyle } from './mapping-style.tsx';
import { type ChosenMapping, isSeparated, useMapping } from './use-mapping.ts';

type ColumnsStepProps = {
  file: File;
  table: Table;
  tables: Table[];
  draft: Draft;
  /** Whether these very choices were checked already, or are being checked. */
  isChecked: boolean;
  onChange: (part: Partial<Draft>) => void;
  onBack: () => void;
  onCheck: (mapping: Mapping | number | undefined) => void;
  onShow: () => void;
};

export function ColumnsStep(props: ColumnsStepProps) {
  const { file, table, draft, onChange, onBack } = props;
  const { error, retry, chosen } = useMapping(file, table, draft);
  if (error)
    return (
      <div className={styles.step}>
        <ErrorState error={error} onRetry={retry} />
        <div className={styles.acts}>
          <Button onPress={onBack}>
            <Trans>Back to the file</Trans>
          </Button>
          {!draft.hasHeader && (
            <Button onPress={() => onChange({ hasHeader: true, mapping: undefined })}>
              <Trans>The first line has the names</Trans>
            </Button>
          )}
        </div>
      </div>
    );
  if (!chosen) return <Skeleton lines={8} />;
  return <Columns {...props} chosen={chosen} />;
}

function Columns({ table, tables, draft, chosen, ...acts }: ColumnsStepProps & { chosen: ChosenMapping }) {
  const { isChecked, onChange, onBack, onCheck, onShow } = acts;
  const { mapping, guess, sample, saved, source } = chosen;
  const columns = table.column_definitions;
  const missing = mapping ? missingTargets(mapping, columns, draft.pattern) : [];
  const twice = mapping ? filledTwice(mapping) : [];
  // One that is saved and not changed is used as it is; its names may have other sources, too.
  const isSavedOne = draft.mapping === undefined && saved.some(({ id }) => String(id) === source);
  return (
    <div className={styles.step}>
      <MappingStyle chosen={chosen} draft={draft} onChange={onChange} />
      {mapping && guess ? (
        <>
          {draft.mapping === undefined && source === 'guess' && <Questions chosen={chosen} />}
          {isForEditing(mapping) && sample.kind === 'workbook' && draft.pattern === 'incremental' && <ForEditing />}
          <ColumnsList
            mapping={mapping}
            guess={source === 'guess' ? guess.columns : []}
            values={sampleValues(sample, guess.format, guess.import_mapping)}
            table={table}
            tables={tables}
            pattern={draft.pattern}
            onChange={(changed) => onChange({ mapping: changed })}
          />
        </>
      ) : (
        <HiddenColumns />
      )}
      <ColumnProblems missing={missing} twice={twice} mapping={mapping} columns={columns} />
      <div className={styles.acts}>
        <Button onPress={onBack}>
          <Trans>Back</Trans>
        </Button>
        <Button
          kind="primary"
          isDisabled={missing.length > 0 || twice.length > 0}
          onPress={() => (isChecked ? onShow() : onCheck(isSavedOne ? Number(source) : mapping))}
        >
          {isChecked ? <Trans>Next: effect</Trans> : <Trans>Next: see the effect</Trans>}
        </Button>
        <span className={styles.note}>
          <Trans>The file is sent and checked. Nothing changes yet.</Trans>
        </span>
      </div>
    </div>
  );
}

/** What the system could not tell from the values; the fields above answer it. */
function Questions({ chosen }: { chosen: ChosenMapping }) {
  const { t } = useLingui();
  const { guess } = chosen;
  const dates = guess?.ambiguous_date_columns.join(', ') ?? '';
  const ofDates =
    dates === '' ? [] : [t`Is the day or the month first in ${dates}? Choose it under “Dates of the file”.`];
  const questions = isSeparated(chosen) ? (guess?.questions ?? []) : ofDates;
  if (questions.length === 0) return null;
  return (
    <ul className={styles.questions} aria-label={t`To decide`}>
      {questions.map((question) => (
        <li key={question}>{question}</li>
      ))}
    </ul>
  );
}

function ForEditing() {
  return (
    <p className={importStyles.notice}>
      <Trans>
        This workbook was made for editing: only the rows that were edited change, and none that others have changed
        since.
      </Trans>
    </p>
  );
}
