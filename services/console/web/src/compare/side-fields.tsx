import { Trans, useLingui } from '@lingui/react/macro';
import type { ReactNode } from 'react';
import type { Branch } from '../api/queries.ts';
import reviewStyles from '../parts/review/review.module.css';
import styles from './compare.module.css';
import type { Side } from './compare-view.ts';

type SideFieldsProps = { name: ReactNode; side: Side; branches: readonly Branch[]; onChange: (side: Side) => void };

/** One side of a comparison: a branch, and since when its rows are of another time. */
export function SideFields({ name, side, branches, onChange }: SideFieldsProps) {
  const { t } = useLingui();
  const local = side.asOf === undefined ? '' : localText(new Date(side.asOf));
  const leave = (typed: string) => {
    if (typed === local) return;
    const time = new Date(typed);
    onChange({ ...side, asOf: Number.isNaN(time.getTime()) ? undefined : time.toISOString() });
  };
  return (
    <fieldset className={styles.side}>
      <legend>{name}</legend>
      <label>
        <Trans>Branch</Trans>
        <select value={side.branchId} onChange={({ target }) => onChange({ ...side, branchId: Number(target.value) })}>
          {branches.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <Trans>as of</Trans>
        <input
          key={local}
          type="datetime-local"
          defaultValue={local}
          max={localText(new Date())}
          title={t`Empty: as it is now`}
          onBlur={({ target }) => leave(target.value)}
          onKeyDown={({ key, currentTarget }) => key === 'Enter' && leave(currentTarget.value)}
        />
      </label>
      {side.asOf === undefined && (
        <span className={reviewStyles.count}>
          <Trans>now</Trans>
        </span>
      )}
    </fieldset>
  );
}

/** The instant as `datetime-local` has it: in the time of the browser, to the minute. */
function localText(instant: Date): string {
  const local = new Date(instant.getTime() - instant.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
