import { Trans } from '@lingui/react/macro';
import { useEffect, useEffectEvent, useRef } from 'react';
import { Button } from '../parts/button.tsx';
import styles from './diff.module.css';

type MoreProps = { shown: number; total: number; isPending: boolean; onMore: () => void };

const nearPixels = 600;

/** Loads the next window when one scrolls near it, or presses it. */
export function More({ shown, total, isPending, onMore }: MoreProps) {
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
