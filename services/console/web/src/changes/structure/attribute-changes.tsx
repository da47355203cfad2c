import type { Schemas } from '../../api/client.ts';
import { BeforeAfter } from '../../diff/before-after.tsx';
import diffStyles from '../../diff/diff.module.css';
import pageStyles from '../../parts/page.module.css';
import { useAttributeWords } from './attribute-words.ts';
import styles from './structure.module.css';

type AttributeChangesProps = { attributes: readonly Schemas['AttributeChange'][]; isNew?: boolean };

/** Attributes with their values: before and after, or the new ones alone. */
export function AttributeChanges({ attributes, isNew = false }: AttributeChangesProps) {
  const { nameOf, wordsOf } = useAttributeWords();
  // What a new thing does not have need not be said.
  const shown = isNew ? attributes.filter(({ to }) => to !== null && to !== false) : attributes;
  if (shown.length === 0) return null;
  return (
    <ul className={styles.attributes}>
      {shown.map(({ name, from, to }) => (
        <li key={name}>
          <span className={pageStyles.quiet}>{nameOf(name)}:</span>{' '}
          {isNew ? (
            <ins className={diffStyles.fresh}>{wordsOf(to)}</ins>
          ) : (
            <BeforeAfter before={wordsOf(from)} after={wordsOf(to)} />
          )}
        </li>
      ))}
    </ul>
  );
}
