import { useLingui } from '@lingui/react/macro';
import { Check } from 'lucide-react';
import styles from '../admin.module.css';
import type { Place } from '../rights/place.ts';
import { rights } from '../rights/rights.ts';
import { usePlaces } from '../rights/use-places.ts';
import { useRightWords } from '../rights/use-right-words.ts';
import { writeTick } from './permission-changes.ts';

type MatrixRowProps = {
  place: Place;
  ticked: ReadonlySet<string>;
  saved: ReadonlySet<string>;
  /** Unset where the rights can't be changed. */
  onToggle: ((tick: string) => void) | undefined;
};

/** A place with a box for each right; boxes that differ from what is saved are marked. */
export function MatrixRow({ place, ticked, saved, onToggle }: MatrixRowProps) {
  const { t } = useLingui();
  const words = useRightWords();
  const name = usePlaces().nameOf(place);
  return (
    <tr>
      <th scope="row">{name}</th>
      {rights.map((right) => {
        const tick = writeTick(right, place);
        const { name: rightName } = words[right];
        if (!onToggle)
          return <td key={right}>{ticked.has(tick) && <Check size={16} role="img" aria-label={t`Yes`} />}</td>;
        return (
          <td key={right} data-changed={ticked.has(tick) === saved.has(tick) ? undefined : ''} className={styles.tick}>
            <label>
              <input
                type="checkbox"
                aria-label={t`${rightName}: ${name}`}
                checked={ticked.has(tick)}
                onChange={() => onToggle(tick)}
              />
            </label>
          </td>
        );
      })}
    </tr>
  );
}
