import { Trans } from '@lingui/react/macro';
import { useNavigate } from '@tanstack/react-router';
import { DayField } from '../parts/day-field.tsx';
import styles from './usage.module.css';
import type { Period } from './usage-view.ts';

/** The first and the last day, at most three months apart; both are in the address. */
export function PeriodFields({ period: { from, to } }: { period: Period }) {
  const navigate = useNavigate({ from: '/admin/usage' });
  const show = (days: { from: string | undefined; to: string | undefined }) =>
    void navigate({ search: (view) => ({ ...view, ...days }), replace: true });
  return (
    <div className={styles.period}>
      <DayField label={<Trans>From</Trans>} day={from} max={to} onChange={(from) => show({ from, to })} />
      <DayField label={<Trans>To</Trans>} day={to} min={from} onChange={(to) => show({ from, to })} />
    </div>
  );
}
