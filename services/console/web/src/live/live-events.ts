// The events of the account as they happen, for all tabs of the browser over one connection: one
// tab holds the lock and follows the stream, and tells the others. When it is closed, another goes
// on after the last event. Browsers without locks (a page by plain HTTP) have none of this; their
// pages are read again when one comes back to them.
import { useEffect, useEffectEvent } from 'react';
import { followEvents, type LiveEvent } from './event-stream.ts';

/** `gap`: events may have been missed. */
type Listener = (event: LiveEvent | 'gap') => void;

const name = 'almanac.events';
const listeners = new Set<Listener>();
let last: number | undefined;
let isFollowing = false;

/** Calls the listener for what happens from now on, while the component is there. */
export function useLiveEvents(listener: Listener): void {
  const tell = useEffectEvent(listener);
  useEffect(() => {
    const added: Listener = (event) => tell(event);
    listeners.add(added);
    follow();
    return () => void listeners.delete(added);
  }, []);
}

function follow(): void {
  if (isFollowing || !navigator.locks) return;
  isFollowing = true;
  const tabs = new BroadcastChannel(name);
  tabs.onmessage = ({ data }: MessageEvent<LiveEvent | 'gap'>) => take(data);
  const give = (event: LiveEvent | 'gap') => {
    take(event);
    tabs.postMessage(event);
  };
  void navigator.locks.request(name, () =>
    followEvents({ after: last, onEvent: give, onGap: () => give('gap') }).catch(() => {}),
  );
}

function take(event: LiveEvent | 'gap'): void {
  if (event !== 'gap') last = event.id;
  for (const listener of listeners) listener(event);
}
