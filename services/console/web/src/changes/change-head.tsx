// What a promotion or deployment is, whose it is, and how it stands.
import { Trans } from '@lingui/react/macro';
import type { ReactNode } from 'react';
import { useTitle } from '../parts/page.tsx';
import { Person } from '../parts/person.tsx';
import reviewStyles from '../parts/review/review.module.css';
import { Time } from '../parts/time.tsx';
import { StatusPill } from './change-line.tsx';
import type { Change } from './change-queries.ts';
import styles from './changes.module.css';

type ChangeHeadProps = { title: string; change: Change /** Where it happens. */; place: ReactNode };

export function ChangeHead({ title, change, place }: ChangeHeadProps) {
  useTitle(title);
  return (
    <header className={reviewStyles.head}>
      <div className={reviewStyles.title}>
        <h1>{title}</h1>
        <StatusPill status={change.status} />
      </div>
      <p className={reviewStyles.facts}>
        <span>{place}</span>
        <span>
          <Trans>
            by <Person id={change.created_by} />
          </Trans>
        </span>
        <span>
          <Trans>
            changed <Time instant={change.updated_at} />
          </Trans>
        </span>
      </p>
      {change.comment && <p className={reviewStyles.text}>{change.comment}</p>}
      {change.error && (
        <p className={styles.failure} role="alert">
          {change.error}
        </p>
      )}
    </header>
  );
}
