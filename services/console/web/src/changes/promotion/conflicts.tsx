// The conflicts of a promotion: what both branches have changed, and which side is taken.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import pageStyles from '../../parts/page.module.css';
import styles from '../changes.module.css';
import { ConflictItem } from './conflict-item.tsx';
import conflictStyles from './conflicts.module.css';
import { allOf, type Choices, type Conflict, choose, idOf, placeOf, type Side, sideOf } from './resolutions.ts';
import { SideChoice } from './side-choice.tsx';

type ConflictsProps = {
  conflicts: readonly Conflict[];
  /** How many there are beyond these. */
  unlisted: number;
  choices: Choices;
  /** The name of a table by its key. */
  nameOf: (key: string) => string;
  source: string;
  target: string;
  onChange: (choices: Choices) => void;
};

export function Conflicts({ conflicts, unlisted, choices, nameOf, source, target, onChange }: ConflictsProps) {
  const tables = [...Map.groupBy(conflicts, ({ table }) => table)];
  return (
    <section className={styles.part} aria-labelledby="conflicts-title">
      <h2 id="conflicts-title">
        <Plural value={conflicts.length + unlisted} one="# conflict" other="# conflicts" />
      </h2>
      <p className={pageStyles.quiet}>
        <Trans>
          Both branches have changed these since they were last the same. Choose for each what {target} shall have.
        </Trans>
      </p>
      {unlisted > 0 && (
        <p className={pageStyles.bad}>
          <Plural
            value={unlisted}
            one="# more is not listed: decide all of its table at once."
            other="# more are not listed: decide all of their tables at once."
          />
        </p>
      )}
      {tables.map(([table, ofTable]) => (
        <div key={table} className={conflictStyles.table}>
          <h3>{nameOf(table)}</h3>
          <ForAll conflicts={ofTable} choices={choices} source={source} target={target} onChange={onChange} />
          <ul className={conflictStyles.items}>
            {ofTable.map((conflict) => (
              <li key={idOf(placeOf(conflict))}>
                <ConflictItem
                  conflict={conflict}
                  side={sideOf(choices, conflict)}
                  source={source}
                  target={target}
                  onChoose={(side) => onChange(choose(choices, placeOf(conflict), side))}
                />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

type ForAllProps = Omit<ConflictsProps, 'unlisted' | 'nameOf'>;

/** Decides all conflicts of rows of a table at once, cells and deleted rows each. */
function ForAll({ conflicts, choices, source, target, onChange }: ForAllProps) {
  const { t } = useLingui();
  const names: Record<string, string> = { value: t`All cells of this table`, row: t`All deleted rows of this table` };
  const kinds = Map.groupBy(
    conflicts.filter(({ row }) => row),
    ({ attribute }) => attribute,
  );
  return [...kinds].map(([attribute, [first, second]]) => {
    if (!first || !second) return null;
    const place = allOf(first);
    const side: Side | undefined = choices[idOf(place)]?.resolution;
    return (
      <SideChoice
        key={attribute}
        id={idOf(place)}
        name={names[attribute] ?? attribute}
        side={side}
        source={source}
        target={target}
        onChoose={(chosen) => onChange(choose(choices, place, chosen))}
      />
    );
  });
}
