// Says that others have changed rows of the table. The grid stays as it is under one's hands: it
// shows them when asked.
import { Plural, Trans } from '@lingui/react/macro';
import { useRef, useState } from 'react';
import { useLiveEvents } from '../live/live-events.ts';
import { Button } from '../parts/button.tsx';
import { OwnWrites } from './own-writes.ts';
import styles from './table.module.css';

export type ChangedElsewhere = {
  /** How many rows others have changed since the rows were loaded. */
  count: number;
  /** Rows were written here. */
  wrote: (rows: number | 'any') => void;
  /** The rows are loaded as they are now. */
  clear: () => void;
};

/** An event may come before the answer to the write that it is of. */
const answerWithinMs = 1_500;

export function useChangedElsewhere(tableId: number): ChangedElsewhere {
  const own = useRef(new OwnWrites());
  const [count, setCount] = useState(0);
  useLiveEvents((event) => {
    if (event === 'gap' || event.isPast || event.type !== 'rows.changed' || event.resource.id !== tableId) return;
    const { inserted, updated, deleted } = event.data as Record<'inserted' | 'updated' | 'deleted', number>;
    setTimeout(() => {
      const others = own.current.countOthers(inserted + updated + deleted, Date.now());
      setCount((before) => before + others);
    }, answerWithinMs);
  });
  return {
    count,
    wrote: (rows) => own.current.add(rows, Date.now()),
    clear: () => setCount(0),
  };
}

export function ChangedElsewhereNote({ count, onShow }: { count: number; onShow: () => void }) {
  return (
    <span role="status" className={count > 0 ? styles.changed : undefined}>
      {count > 0 && (
        <>
          <Plural value={count} one="# row changed elsewhere" other="# rows changed elsewhere" />
          <Button kind="quiet" onPress={onShow}>
            <Trans>Show</Trans>
          </Button>
        </>
      )}
    </span>
  );
}
