import type { ReactNode } from 'react';
import styles from './conflicts.module.css';
import type { Side } from './resolutions.ts';

type SideChoiceProps = {
  id: string;
  name: string;
  side: Side | undefined;
  source: string;
  sourceValue?: string;
  target: string;
  targetValue?: string;
  onChoose: (side: Side) => void;
  children?: ReactNode;
};

/** Which branch decides: each with what it has, where that is one value. */
export function SideChoice(props: SideChoiceProps) {
  const { id, name, side, source, sourceValue, target, targetValue, onChoose, children } = props;
  const sides: [Side, string, string | undefined][] = [
    ['source', source, sourceValue],
    ['target', target, targetValue],
  ];
  return (
    <fieldset className={styles.choice}>
      <legend>{name}</legend>
      {sides.map(([one, branch, value]) => (
        <label key={one}>
          <input type="radio" name={id} checked={side === one} onChange={() => onChoose(one)} />
          <span>
            <strong>{branch}</strong>
            {value !== undefined && `: ${value}`}
          </span>
        </label>
      ))}
      {children}
    </fieldset>
  );
}
