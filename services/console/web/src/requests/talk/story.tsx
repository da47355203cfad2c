// What has happened to a request, and what was said about it as a whole, in the order of time.
import { Plural, Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Person } from '../../parts/person.tsx';
import { ErrorState } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { type ChangeRequest, commentsQuery } from '../queries.ts';
import { useRequestWords } from '../request-words.ts';
import { CommentEntry, CommentForm } from './comments.tsx';
import { storyOf } from './story-order.ts';
import styles from './talk.module.css';

// The service itself takes these steps, when an application has ended.
const ofService = new Set(['succeed', 'refuse', 'fail']);

export function Story({ request }: { request: ChangeRequest }) {
  const words = useRequestWords();
  const { data: comments = [], error, refetch } = useQuery(commentsQuery(request.id));
  const onRows = comments.filter(({ operation_id }) => operation_id !== null).length;
  return (
    <section className={styles.story} aria-labelledby="story-title">
      <h2 id="story-title">
        <Trans>What has happened</Trans>
      </h2>
      <ol className={styles.entries}>
        {storyOf(request.actions, comments).map((entry) =>
          'body' in entry ? (
            <li key={`comment:${entry.id}`} className={styles.entry}>
              <CommentEntry comment={entry} />
            </li>
          ) : (
            <li key={`${entry.at}:${entry.action}`} className={styles.step}>
              <p className={styles.by}>
                <strong>{words.step[entry.action] ?? entry.action}</strong> ·{' '}
                {!ofService.has(entry.action) && (
                  <>
                    <Person id={entry.user} /> ·{' '}
                  </>
                )}
                <Time instant={entry.at} />
              </p>
              {entry.comment && <p className={styles.body}>{entry.comment}</p>}
            </li>
          ),
        )}
      </ol>
      {error && <ErrorState error={error} onRetry={() => void refetch()} />}
      {onRows > 0 && (
        <p className={styles.quiet}>
          <Plural value={onRows} one="# comment is at its row." other="# comments are at their rows." />
        </p>
      )}
      <CommentForm requestId={request.id} />
    </section>
  );
}
