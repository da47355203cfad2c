import { useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { WizardStep } from '../import-address.ts';
import { importQuery } from '../queries.ts';
import styles from '../wizard.module.css';

type StepsProps = { current: WizardStep; hasBoth: boolean; hasEffect: boolean; importId: number | undefined };

/** Where one is, and the steps that one can go to. Nothing is lost by going back. */
export function Steps({ current, hasBoth, hasEffect, importId }: StepsProps) {
  const { t } = useLingui();
  const { data: given } = useQuery({ ...importQuery(importId ?? 0), enabled: importId !== undefined });
  const isApplied = given?.import_tables.some(({ applied_as }) => applied_as !== null) ?? false;
  const steps: { name: string; step: WizardStep | undefined; isOpen: boolean }[] = [
    { name: t`File`, step: 'file', isOpen: true },
    { name: t`Columns`, step: 'columns', isOpen: hasBoth },
    { name: t`Effect`, step: 'effect', isOpen: hasEffect && !isApplied },
    { name: t`Done`, step: undefined, isOpen: false },
  ];
  const place = isApplied && current === 'effect' ? 3 : steps.findIndex(({ step }) => step === current);
  return (
    <ol className={styles.steps} aria-label={t`Steps`}>
      {steps.map(({ name, step, isOpen }, number) => (
        <li key={name} aria-current={number === place ? 'step' : undefined}>
          <span className={styles.stepNumber} aria-hidden>
            {number + 1}
          </span>
          {isOpen && number !== place ? (
            <Link from="/import" to="." search={(search) => ({ ...search, step: step === 'file' ? undefined : step })}>
              {name}
            </Link>
          ) : (
            name
          )}
        </li>
      ))}
    </ol>
  );
}
