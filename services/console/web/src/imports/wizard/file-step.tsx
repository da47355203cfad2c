// The first step: which file, into which table, and in which way.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { definitionsQuery, type Table } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { CheckField, SelectField } from '../../parts/form/fields.tsx';
import type { Draft } from '../columns/draft.ts';
import styles from '../wizard.module.css';
import { DropArea } from './drop-area.tsx';
import { LoadModes } from './load-modes.tsx';

type FileStepProps = {
  draft: Draft;
  table: Table | undefined;
  tables: Table[];
  branchId: number;
  onFile: (file: File) => void;
  onTable: (key: string | undefined) => void;
  onChange: (part: Partial<Draft>) => void;
  onNext: () => void;
};

export function FileStep({ draft, table, tables, branchId, onFile, onTable, onChange, onNext }: FileStepProps) {
  const { t } = useLingui();
  const { data: definitions } = useQuery(definitionsQuery(branchId));
  const refusalOf = ({ id }: Table) => definitions?.find((one) => one.id === id)?.can_not?.import_rows;
  const offered = tables.filter((one) => one.key === table?.key || refusalOf(one) === undefined);
  const left = tables.length - offered.length;
  const refusal = table && refusalOf(table);
  const isReady = draft.file !== undefined && table !== undefined && refusal === undefined;
  return (
    <div className={styles.step}>
      <DropArea file={draft.file} onFile={onFile} />
      <SelectField
        // The browser's list keeps its own choice, and the address may bring another one.
        key={table?.key}
        name="table"
        label={t`Table`}
        defaultValue={table?.key ?? ''}
        options={[
          ...(table === undefined ? [{ id: '', name: t`Choose a table…` }] : []),
          ...offered.map(({ key, name, domain }) => ({ id: key, name: `${name} · ${domain.name}` })),
        ]}
        onChange={(key) => onTable(key === '' ? undefined : key)}
        help={
          left > 0 && (
            <Plural
              value={left}
              one="# more table is not offered: you may not edit its rows."
              other="# more tables are not offered: you may not edit their rows."
            />
          )
        }
      />
      {refusal && <p className={styles.problem}>{refusal}</p>}
      <LoadModes chosen={draft.pattern} onChoose={(pattern) => onChange({ pattern })} />
      <CheckField
        name="rejectsRows"
        isChecked={draft.rejectsRows}
        label={t`Leave out invalid rows, and load the others`}
        help={t`Otherwise one invalid row is enough, and nothing is loaded.`}
        onChange={(rejectsRows) => onChange({ rejectsRows })}
      />
      <div className={styles.acts}>
        <Button kind="primary" isDisabled={!isReady} onPress={onNext}>
          <Trans>Next: columns</Trans>
        </Button>
        {!isReady && refusal === undefined && (
          <span className={styles.note}>
            {draft.file === undefined ? <Trans>Choose a file first.</Trans> : <Trans>Choose a table first.</Trans>}
          </span>
        )}
      </div>
    </div>
  );
}
