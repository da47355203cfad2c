// What a check has found: how many rows change, and which rules refuse it, with the rows.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useEffect, useRef } from 'react';
import { Notice } from '../../parts/blocks/notice.tsx';
import styles from './bulk.module.css';
import { ProblemList } from './problems/problem-list.tsx';
import type { BulkWriting } from './use-bulk-write.ts';

/** It gets the focus: the next press must not be that of a field that is still focused. */
export function Outcome({ writing: { checked, moved } }: { writing: BulkWriting }) {
  const { t } = useLingui();
  const place = useRef<HTMLElement>(null);
  const found = moved ?? checked;
  useEffect(() => {
    if (found) place.current?.focus();
  }, [found]);
  if (!found) return null;
  return (
    <section ref={place} tabIndex={-1} className={styles.outcome} aria-label={t`What the check has found`}>
      {moved ? (
        <Notice kind="warning">
          <Plural
            value={moved.to}
            one="Now # row matches: others have changed the table. Nothing was written; check again."
            other="Now # rows match: others have changed the table. Nothing was written; check again."
          />
        </Notice>
      ) : (
        checked && <Found checked={checked} />
      )}
    </section>
  );
}

function Found({ checked }: { checked: NonNullable<BulkWriting['checked']> }) {
  const { write, matched, changing, problems, names } = checked;
  const same = matched - changing;
  if (problems.length > 0)
    return (
      <Notice kind="bad">
        <p>
          <strong>
            <Trans>A rule refuses this, so no row can be written:</Trans>
          </strong>
        </p>
        <ProblemList problems={problems} names={names} />
      </Notice>
    );
  return (
    <Notice>
      <p>
        <strong>
          {write.set ? (
            <Plural value={changing} one="# row changes" other="# rows change" />
          ) : (
            <Plural value={changing} one="# row will be deleted" other="# rows will be deleted" />
          )}
        </strong>
        {write.set && same > 0 && (
          <>
            {' · '}
            <Plural value={same} one="# row has the values already" other="# rows have the values already" />
          </>
        )}
      </p>
      {changing > 0 && (
        <p>
          <Trans>No rule refuses this. Undo takes all of it back.</Trans>
        </p>
      )}
    </Notice>
  );
}
