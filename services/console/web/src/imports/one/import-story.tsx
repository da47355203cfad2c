import { Trans } from '@lingui/react/macro';
import pageStyles from '../../parts/page.module.css';
import { Person } from '../../parts/person.tsx';
import { Time } from '../../parts/time.tsx';
import { useImportWords } from '../import-words.ts';
import styles from '../imports.module.css';
import type { ImportDetails } from '../queries.ts';

/** What has happened to an import, who did it, and when. */
export function ImportStory({ actions }: Pick<ImportDetails, 'actions'>) {
  const words = useImportWords();
  if (actions.length === 0) return null;
  return (
    <section className={pageStyles.section} aria-labelledby="import-story">
      <h2 id="import-story">
        <Trans>What has happened</Trans>
      </h2>
      <ol className={styles.story}>
        {actions.map(({ action, user_id, application_id, comment, at }) => (
          <li key={`${at}:${action}`}>
            <strong>{words.action(action)}</strong>
            {(user_id ?? application_id) !== null && (
              <>
                {' · '}
                <Person id={user_id} />
              </>
            )}
            {' · '}
            <Time instant={at} />
            {comment && ` · ${comment}`}
          </li>
        ))}
      </ol>
    </section>
  );
}
