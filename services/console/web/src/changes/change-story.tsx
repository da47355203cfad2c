// The steps that were taken with a promotion or deployment, and what was said at each.
import { Trans } from '@lingui/react/macro';
import pageStyles from '../parts/page.module.css';
import { Person } from '../parts/person.tsx';
import { Time } from '../parts/time.tsx';
import type { Change } from './change-queries.ts';
import { useChangeStates } from './change-words.ts';
import styles from './changes.module.css';

// The service itself takes these.
const ofService = new Set(['succeed', 'fail']);

export function ChangeStory({ actions }: Pick<Change, 'actions'>) {
  const words = useChangeStates();
  return (
    <section className={styles.story} aria-labelledby="story-title">
      <h2 id="story-title">
        <Trans>What has happened</Trans>
      </h2>
      <ol>
        {actions.map(({ action, at, user, comment }) => (
          <li key={`${at} ${action}`}>
            <p className={pageStyles.quiet}>
              <strong>{words.step[action] ?? action}</strong> ·{' '}
              {!ofService.has(action) && (
                <>
                  <Person id={user} /> ·{' '}
                </>
              )}
              <Time instant={at} />
            </p>
            {comment && <p>{comment}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}
