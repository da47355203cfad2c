import { Plural, Trans } from '@lingui/react/macro';
import styles from '../bulk.module.css';
import { groupProblems, type Problem, type ProblemGroup, shownRows } from './problem-groups.ts';

type ProblemListProps = { problems: readonly Problem[]; names: ReadonlyMap<number, string> };

/** The rules that refuse a write, each with the number of its rows and some of them. */
export function ProblemList({ problems, names }: ProblemListProps) {
  const { groups, unlisted } = groupProblems(problems);
  return (
    <>
      <ul className={styles.problems}>
        {groups.map((group) => (
          <li key={JSON.stringify(group)}>
            <p>
              <Rule {...group} />
            </p>
            {group.rows.length > 0 && <Examples rows={group.rows} names={names} />}
          </li>
        ))}
      </ul>
      {unlisted > 0 && (
        <p>
          <Plural value={unlisted} one="# more problem is not listed." other="# more problems are not listed." />
        </p>
      )}
    </>
  );
}

function Rule({ code, message, table }: ProblemGroup) {
  if (code === 'taken') return <Trans>The key must be unique: another row has it, or would get it, too</Trans>;
  if (code === 'still_referenced' && table) return <Trans>Rows of {table} still refer to it</Trans>;
  if (code === 'version_conflict') return <Trans>Someone else has changed it since</Trans>;
  return message;
}

function Examples({ rows, names }: { rows: readonly number[]; names: ProblemListProps['names'] }) {
  const shown = rows.slice(0, shownRows).map((id) => names.get(id) ?? `#${id}`);
  return (
    <p className={styles.examples}>
      <Plural value={rows.length} one="# row:" other="# rows:" />{' '}
      <span className={styles.keys}>
        {shown.join(', ')}
        {rows.length > shownRows && ' …'}
      </span>
    </p>
  );
}
