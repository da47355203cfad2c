import { Plural, Trans, useLingui } from '@lingui/react/macro';
import type { Schemas } from '../../api/client.ts';
import { ChangeSign } from '../../parts/change-sign.tsx';
import pageStyles from '../../parts/page.module.css';
import { AttributeChanges } from './attribute-changes.tsx';
import styles from './structure.module.css';

type ColumnDiff = Schemas['ColumnDiff'];
type ColumnChangesProps = { label: string; columns: readonly ColumnDiff[] };

const signs = { new: 'create', modified: 'update', deleted: 'delete' } as const;

/** The columns that change, as a table; of the others how many there are. */
export function ColumnChanges({ label, columns }: ColumnChangesProps) {
  const { t } = useLingui();
  const words = { new: t`new`, modified: t`changed`, deleted: t`deleted` };
  const changed = columns.flatMap(({ change, ...column }) => (change === 'unchanged' ? [] : [{ ...column, change }]));
  const same = columns.length - changed.length;
  return (
    <>
      {changed.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
        <section className={styles.scroll} aria-label={label} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">
                  <Trans>Change</Trans>
                </th>
                <th scope="col">
                  <Trans>Column</Trans>
                </th>
                <th scope="col">
                  <Trans>What it is</Trans>
                </th>
              </tr>
            </thead>
            <tbody>
              {changed.map(({ name, change, attributes }) => (
                <tr key={`${change} ${name}`}>
                  <td>
                    <ChangeSign kind={signs[change]} />
                    {words[change]}
                  </td>
                  <th scope="row">{name}</th>
                  <td>
                    {change === 'deleted' ? null : (
                      <AttributeChanges
                        attributes={attributes.filter((one) => change === 'modified' || one.name !== 'name')}
                        isNew={change === 'new'}
                      />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {same > 0 && (
        <p className={pageStyles.quiet}>
          <Plural value={same} one="# column stays the same" other="# columns stay the same" />
        </p>
      )}
    </>
  );
}
