import { Trans } from '@lingui/react/macro';
import { notifyManager, useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { isOutOfDate } from '../api/query-client.ts';
import styles from './out-of-date.module.css';

const againEveryMs = 5_000;

/** Says that the page may be old while the server is away, and reads it again until it is not. */
export function OutOfDate() {
  const queries = useQueryClient();
  const cache = queries.getQueryCache();
  const isOld = useSyncExternalStore(
    (onChange) => cache.subscribe(notifyManager.batchCalls(onChange)),
    () => cache.getAll().some(isOutOfDate),
  );
  useEffect(() => {
    if (!isOld) return;
    // A reading that takes long is waited for.
    const readAgain = () => void queries.refetchQueries({ predicate: isOutOfDate }, { cancelRefetch: false });
    const timer = setInterval(readAgain, againEveryMs);
    return () => clearInterval(timer);
  }, [isOld, queries]);
  return (
    <div role="status" className={styles.notice}>
      {isOld && (
        <p>
          <Trans>Almanac does not answer now. What you see may be old. It is loaded again as soon as it can be.</Trans>
        </p>
      )}
    </div>
  );
}
