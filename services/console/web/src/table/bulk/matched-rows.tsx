// The rows that a change of all matches is about, in words, and why it can't be made if so.
import { Plural, Trans } from '@lingui/react/macro';
import { useFilterWords } from '../../address/filter-words.ts';
import { Notice } from '../../parts/blocks/notice.tsx';
import { useNumbers } from '../../parts/files/use-numbers.ts';
import styles from './bulk.module.css';
import { mostRows } from './selection.ts';
import type { Matches, Narrowing } from './use-matches.ts';

type MatchedRowsProps = { narrowing: Narrowing; matches: Matches | undefined; unsaved: number };

export function MatchedRows({ narrowing, matches, unsaved }: MatchedRowsProps) {
  const words = useFilterWords();
  const { q, filters } = narrowing;
  const conditions = Object.entries(filters).map(([name, model]) => words(name, model));
  const isNarrowed = q !== undefined || conditions.length > 0;
  return (
    <div className={styles.matches}>
      <p className={styles.count} role="status">
        {matches ? <Plural value={matches.count} one="# row matches" other="# rows match" /> : <Trans>Counting…</Trans>}
      </p>
      {isNarrowed && (
        <ul className={styles.conditions}>
          {q !== undefined && (
            <li>
              <Trans>search: “{q}”</Trans>
            </li>
          )}
          {conditions.map((condition) => (
            <li key={condition}>{condition}</li>
          ))}
        </ul>
      )}
      {!isNarrowed && matches && matches.count > 0 && (
        <Notice kind="warning">
          <Trans>There is no search and no filter: these are all rows of the table.</Trans>
        </Notice>
      )}
      {unsaved > 0 && (
        <Notice kind="warning">
          <Plural
            value={unsaved}
            one="# row has changes that are not saved. They are not part of this: save them first if they should be."
            other="# rows have changes that are not saved. They are not part of this: save them first if they should be."
          />
        </Notice>
      )}
      {matches?.obstacle && <ObstacleNotice obstacle={matches.obstacle} />}
    </div>
  );
}

function ObstacleNotice({ obstacle }: Pick<Required<Matches>, 'obstacle'>) {
  const { count } = useNumbers();
  const most = count(mostRows);
  return (
    <Notice kind="bad">
      {obstacle === 'none' && <Trans>No row matches, so there is nothing to do.</Trans>}
      {obstacle === 'too-many' && (
        <Trans>At most {most} rows can be written at once. Set a filter, or import a file.</Trans>
      )}
    </Notice>
  );
}
