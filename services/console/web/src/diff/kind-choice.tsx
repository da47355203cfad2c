import { useLingui } from '@lingui/react/macro';
import { ChangeSign } from '../parts/change-sign.tsx';
import { useNumbers } from '../parts/files/use-numbers.ts';
import { type ChangeKind, changeKinds, operationOf } from './change-kinds.ts';
import { useChangeWords } from './change-words.ts';
import styles from './diff.module.css';

type KindChoiceProps = {
  counts: Record<ChangeKind, number>;
  chosen: ChangeKind | undefined;
  onChoose: (kind: ChangeKind | undefined) => void;
};

/** Which kind of changes is listed, with how many there are of each. */
export function KindChoice({ counts, chosen, onChoose }: KindChoiceProps) {
  const { t } = useLingui();
  const words = useChangeWords();
  const { count } = useNumbers();
  const all = changeKinds.reduce((total, kind) => total + counts[kind], 0);
  return (
    <fieldset className={styles.kinds} aria-label={t`Kinds of changes`}>
      <button type="button" aria-pressed={chosen === undefined} onClick={() => onChoose(undefined)}>
        {t`all`} <span className={styles.count}>{count(all)}</span>
      </button>
      {changeKinds
        .filter((kind) => counts[kind] > 0 || kind === chosen)
        .map((kind) => (
          <button key={kind} type="button" aria-pressed={kind === chosen} onClick={() => onChoose(kind)}>
            <ChangeSign kind={operationOf[kind]} />
            {words[kind]} <span className={styles.count}>{count(counts[kind])}</span>
          </button>
        ))}
    </fieldset>
  );
}
