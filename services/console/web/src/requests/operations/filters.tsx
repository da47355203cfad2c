import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { changeSigns } from '../../parts/change-sign.tsx';
import { operationCountsQuery } from '../queries.ts';
import { useRequestWords } from '../request-words.ts';
import { decisions, isFiltered, kinds, type OperationFilter } from '../review/review-view.ts';
import styles from './operations.module.css';

type FiltersProps = {
  requestId: number;
  tableId: number;
  filter: OperationFilter;
  onChange: (filter: OperationFilter) => void;
};

/**
 * Which operations are shown: by what they do, how they are decided, and what is wrong with them.
 */
export function Filters({ requestId, tableId, filter, onChange }: FiltersProps) {
  const { t } = useLingui();
  const words = useRequestWords();
  const { data: counts } = useQuery(operationCountsQuery(requestId, tableId));
  const choice = (id: string, name: ReactNode, count: number | undefined, isChosen: boolean, chosen: OperationFilter) =>
    (isChosen || (count ?? 0) > 0) && (
      <button key={id} type="button" aria-pressed={isChosen} onClick={() => onChange(chosen)}>
        {name} {count !== undefined && <span>{count}</span>}
      </button>
    );
  return (
    <section className={styles.filters} aria-label={t`Filters`}>
      {kinds.map((kind) => {
        const isChosen = filter.kind === kind;
        const [sign, name] = [changeSigns[kind], words.kind[kind]];
        return choice(kind, `${sign} ${name}`, counts?.kinds[kind], isChosen, { kind: isChosen ? undefined : kind });
      })}
      <span className={styles.between} aria-hidden />
      {decisions.map((decision) => {
        const isChosen = filter.decision === decision;
        const count = counts?.decisions[decision];
        return choice(decision, words.decision[decision].name, count, isChosen, {
          decision: isChosen ? undefined : decision,
        });
      })}
      <span className={styles.between} aria-hidden />
      {choice('problem', <Trans>problem or conflict</Trans>, counts?.with_problems, filter.problem === true, {
        problem: filter.problem ? undefined : true,
      })}
      {isFiltered(filter) && (
        <button
          type="button"
          className={styles.clear}
          aria-label={t`Clear filters`}
          onClick={() => onChange({ kind: undefined, decision: undefined, problem: undefined })}
        >
          <Trans>Clear</Trans>
        </button>
      )}
    </section>
  );
}
