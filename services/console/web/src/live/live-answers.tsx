import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useLiveEvents } from './live-events.ts';
import { staleAnswers } from './stale-answers.ts';

/** Events come in bursts: what one act has changed is read again once. */
const burstMs = 500;

/** Reads answers again that events have made stale, where a page shows them. */
export function LiveAnswers() {
  const queries = useQueryClient();
  const stale = useRef(new Map<string, QueryKey>());
  useLiveEvents((event) => {
    const keys = event === 'gap' ? [[]] : staleAnswers(event);
    if (stale.current.size === 0 && keys.length > 0) setTimeout(readAgain, burstMs);
    for (const key of keys) stale.current.set(JSON.stringify(key), key);
  });
  const readAgain = () => {
    const keys = [...stale.current.values()];
    stale.current.clear();
    for (const queryKey of keys) void queries.invalidateQueries({ queryKey });
  };
  return null;
}
