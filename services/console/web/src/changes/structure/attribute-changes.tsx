import { Trans } from '@lingui/react/macro';
import type { Schemas } from '../../api/client.ts';
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
          <span className={styles.quiet}>{nameOf(name)}:</span>{' '}
          {!isNew && (
            <>
              <del className={styles.before}>
                <span className={styles.hidden}>
                  <Trans>before:</Trans>{' '}
                </span>
                {wordsOf(from)}
              </del>{' '}
            </>
          )}
          <ins className={isNew ? styles.plain : styles.after}>
            {!isNew && (
              <span className={styles.hidden}>
                <Trans>after:</Trans>{' '}
              </span>
            )}
            {wordsOf(to)}
          </ins>
        </li>
      ))}
    </ul>
  );
}
