import { Trans } from '@lingui/react/macro';
import { useEffect, useEffectEvent, useRef } from 'react';
import { Button } from '../parts/button.tsx';
import styles from './diff.module.css';

/** What a query of windows says of the one that comes next. */
export type NextWindow = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };

type MoreProps = { shown: number; total: number; windows: NextWindow };

const nearPixels = 600;

/** Loads the next window when one scrolls near it, or presses it; nothing when all are shown. */
export function More({ windows, ...counts }: MoreProps) {
  if (!windows.hasNextPage) return null;
  return <Next {...counts} isPending={windows.isFetchingNextPage} onMore={() => void windows.fetchNextPage()} />;
}

type NextProps = Omit<MoreProps, 'windows'> & { isPending: boolean; onMore: () => void };

function Next({ shown, total, isPending, onMore }: NextProps) {
  const place = useRef<HTMLDivElement>(null);
  const onNear = useEffectEvent(() => {
    if (!isPending) onMore();
  });
  // Observed again after each window: one that is short may leave the end in view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `shown` says that a window has come.
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) onNear();
      },
      { rootMargin: `${nearPixels}px 0px` },
    );
    if (place.current) observer.observe(place.current);
    return () => observer.disconnect();
  }, [shown]);
  return (
    <div ref={place} className={styles.more}>
      <Button isDisabled={isPending} onPress={onMore}>
        <Trans>
          Show more: {shown} of {total} are shown
        </Trans>
      </Button>
    </div>
  );
}
