// How many rows an import has read, and what became of them.
import { useLingui } from '@lingui/react/macro';
import { useNumbers } from '../parts/files/use-numbers.ts';
import styles from './imports.module.css';
import type { Metrics } from './queries.ts';

type Part = { name: string; count: number; style: string | undefined };

/** The counts in words, those that are 0 left out; what a dry run would do reads the same. */
export function LoadCounts({ metrics }: { metrics: Metrics }) {
  const { t } = useLingui();
  const { count } = useNumbers();
  const parts = useParts(metrics).filter((part) => part.count > 0);
  if (parts.length === 0) return <span>{t`no rows`}</span>;
  return <span>{parts.map((part) => `${count(part.count)} ${part.name}`).join(' · ')}</span>;
}

/** The counts as a stacked bar; the words beside it say the same. */
export function LoadBar({ metrics }: { metrics: Metrics }) {
  const parts = useParts(metrics).filter((part) => part.count > 0);
  if (parts.length === 0) return null;
  return (
    <span className={styles.bar} aria-hidden>
      {parts.map(({ name, count, style }) => (
        <span key={name} className={style} style={{ flexGrow: count }} />
      ))}
    </span>
  );
}

function useParts({ inserted, updated, deleted, unchanged, rejected }: Metrics): Part[] {
  const { t } = useLingui();
  return [
    { name: t`new`, count: inserted, style: styles.created },
    { name: t`changed`, count: updated, style: styles.updated },
    { name: t`deleted`, count: deleted, style: styles.deleted },
    { name: t`rejected`, count: rejected, style: styles.rejected },
    { name: t`unchanged`, count: unchanged, style: styles.unchanged },
  ];
}
