// The steps of the wizard, and what goes from one to the next.
import { Trans } from '@lingui/react/macro';
import { type RefObject, useEffect, useRef } from 'react';
import type { Branch, Table } from '../../api/queries.ts';
import { ColumnsStep } from '../columns/columns-step.tsx';
import type { Draft } from '../columns/draft.ts';
import { keepMapping } from '../columns/kept-mappings.ts';
import { isNeedless, type Mapping } from '../columns/mapping.ts';
import { useImportWords } from '../import-words.ts';
import { useDryRun } from '../sending/use-dry-run.ts';
import styles from '../wizard.module.css';
import { EffectStep } from './effect-step.tsx';
import { FileStep } from './file-step.tsx';
import { LeavingDialog } from './leaving-dialog.tsx';
import { Steps } from './steps.tsx';
import { useDraft } from './use-draft.ts';

type WizardProps = { branch: Branch; tables: Table[]; dateStyle: string };

export function Wizard({ branch, tables, dateStyle }: WizardProps) {
  const { draft, address, go, change, chooseTable, chooseFile, startOver } = useDraft();
  const dryRun = useDryRun((importId) => go({ step: 'effect', import: importId, kind: undefined }, 'replaced'));
  const { file, pattern, rejectsRows } = draft;
  const table = tables.find(({ key }) => key === address.table);
  const hasBoth = file !== undefined && table !== undefined;
  const isChecked = address.import !== undefined || dryRun.isRunning;
  const hasEffect = isChecked || Boolean(dryRun.error);
  // A page that was loaded again has lost the file; the effect is known to the system.
  const wanted = address.step === 'effect' && !hasEffect ? 'columns' : (address.step ?? 'file');
  const step = wanted === 'columns' && !hasBoth ? 'file' : wanted;
  const place = useFocusOnChange(step);

  const start = (mapping: Mapping | number | undefined) => {
    if (!hasBoth) return;
    if (typeof mapping === 'object') keepMapping(table.key, mapping);
    const isNeeded = typeof mapping !== 'object' || !isNeedless(mapping, dateStyle);
    go({ step: 'effect', import: undefined, kind: undefined });
    dryRun.start({
      ...{ branchId: branch.id, tableId: table.id, file, pattern, rejectsRows, allowsMassDelete: false },
      mapping: isNeeded ? mapping : undefined,
    });
  };
  const onChange = (part: Partial<Draft>) => {
    dryRun.stop();
    change(part);
  };

  return (
    <div ref={place} tabIndex={-1} className={styles.wizard}>
      <Steps current={step} hasBoth={hasBoth} hasEffect={hasEffect} importId={address.import} />
      {step !== 'file' && hasBoth && (
        <Chosen file={file} table={table} pattern={step === 'columns' ? pattern : undefined} />
      )}
      {step === 'file' && (
        <FileStep
          draft={draft}
          table={table}
          tables={tables}
          branchId={branch.id}
          onFile={(chosen) => {
            dryRun.stop();
            chooseFile(chosen);
          }}
          onTable={(key) => {
            dryRun.stop();
            chooseTable(key);
          }}
          onChange={onChange}
          onNext={() => go({ step: 'columns' })}
        />
      )}
      {step === 'columns' && file && table && (
        <ColumnsStep
          {...{ file, table, tables, draft, isChecked, onChange }}
          onBack={() => go({ step: undefined })}
          onCheck={start}
          onShow={() => go({ step: 'effect' })}
        />
      )}
      {step === 'effect' && (
        <EffectStep
          importId={address.import}
          dryRun={dryRun}
          kind={address.kind}
          onKind={(kind) => go({ kind }, 'replaced')}
          onBack={hasBoth ? () => go({ step: 'columns' }) : undefined}
          onStartOver={startOver}
        />
      )}
      <LeavingDialog isRunning={dryRun.isRunning} />
    </div>
  );
}

// The button that led to the step was part of the step before.
function useFocusOnChange(step: string): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null);
  const before = useRef(step);
  useEffect(() => {
    if (before.current !== step) place.current?.focus();
    before.current = step;
  }, [step]);
  return place;
}

type ChosenProps = { file: File; table: Table; pattern: Draft['pattern'] | undefined };

/** What the step is about: the file, the table, and what the one does to the other. */
function Chosen({ file, table, pattern }: ChosenProps) {
  const words = useImportWords();
  return (
    <p className={styles.about}>
      <Trans>
        <strong>{file.name}</strong> into <strong>{table.name}</strong>
      </Trans>
      {pattern && ` · ${words.pattern[pattern].name}`}
    </p>
  );
}
