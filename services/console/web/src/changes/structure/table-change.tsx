// What a change does to the structure of a table: its attributes, its columns, what would be lost,
// and what is in the way.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { CircleAlert, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import pageStyles from '../../parts/page.module.css';
import { AttributeChanges } from './attribute-changes.tsx';
import { ColumnChanges } from './column-changes.tsx';
import styles from './structure.module.css';

type TableDiff = Schemas['TableDiff'];

export function TableChange({ diff, children }: { diff: TableDiff /** Below. */; children?: ReactNode }) {
  const { t } = useLingui();
  const changes = {
    new: { name: t`new`, style: pageStyles.ok },
    modified: { name: t`changed`, style: pageStyles.warn },
    deleted: { name: t`deleted`, style: pageStyles.bad },
    unchanged: { name: t`structure stays the same`, style: '' },
  };
  const { name, style } = changes[diff.change];
  const titleId = `table-${diff.table_definition_id}`;
  return (
    <section className={styles.table} aria-labelledby={titleId}>
      <div className={styles.head}>
        <h3 id={titleId}>{diff.name}</h3>
        <span className={`${pageStyles.pill} ${style}`}>{name}</span>
      </div>
      <Findings findings={diff.blockers} kind="blocker" />
      <Findings findings={diff.warnings} kind="warning" />
      {diff.change !== 'unchanged' && (
        <>
          <AttributeChanges attributes={diff.attributes} isNew={diff.change === 'new'} />
          <ColumnChanges label={t`Columns of ${diff.name}`} columns={diff.columns} />
        </>
      )}
      {diff.statements.length > 0 && <Statements statements={diff.statements} />}
      {children}
    </section>
  );
}

type FindingsProps = { findings: readonly Schemas['Finding'][]; kind: 'blocker' | 'warning' };

function Findings({ findings, kind }: FindingsProps) {
  if (findings.length === 0) return null;
  const Icon = kind === 'blocker' ? CircleAlert : TriangleAlert;
  return (
    <ul className={kind === 'blocker' ? styles.blockers : styles.warnings}>
      {findings.map(({ message, rows }) => (
        <li key={message}>
          <Icon size={15} aria-hidden />
          <span>
            {kind === 'blocker' ? <Trans>In the way:</Trans> : <Trans>Would be lost:</Trans>} {message}
            {rows > 0 && (
              <>
                {' · '}
                <Plural value={rows} one="# row" other="# rows" />
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Statements({ statements }: { statements: readonly string[] }) {
  return (
    <details className={styles.statements}>
      <summary>
        <Plural value={statements.length} one="Show its statement in SQL" other="Show its # statements in SQL" />
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard. */}
      <pre tabIndex={0}>{statements.join(';\n')};</pre>
    </details>
  );
}
