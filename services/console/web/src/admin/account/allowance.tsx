import { Trans, useLingui } from '@lingui/react/macro';
import type { Schemas } from '../../api/client.ts';
import { localeOf } from '../../language/locale.ts';
import styles from './account.module.css';

/** How much of the month's calls is used, as a bar and in numbers. */
export function Allowance({ account }: { account: Schemas['Account'] }) {
  const { i18n } = useLingui();
  const { calls, allowance, overage_calls, period_end } = account.usage;
  const share = allowance > 0 ? calls / allowance : 1;
  const number = (value: number) => i18n.number(value);
  const [used, all] = [number(calls), number(allowance)];
  const percent = i18n.number(share, { style: 'percent', maximumFractionDigits: share < 0.1 ? 1 : 0 });
  const reset = new Intl.DateTimeFormat(localeOf(i18n.locale), { dateStyle: 'long', timeZone: 'UTC' }).format(
    new Date(period_end),
  );
  return (
    <>
      <div className={styles.meter} data-level={share >= 1 ? 'full' : share >= 0.8 ? 'high' : undefined} aria-hidden>
        <span style={{ width: `${Math.min(share, 1) * 100}%` }} />
      </div>
      <p className={styles.numbers}>
        <strong>{percent}</strong>{' '}
        <Trans>
          {used} of {all} calls. The next month begins on {reset} (UTC).
        </Trans>
      </p>
      {overage_calls > 0 && (
        <p>
          <Trans>{number(overage_calls)} calls were beyond the allowance and are charged.</Trans>
        </p>
      )}
      {share >= 1 && !account.overage_enabled && (
        <p className={styles.full}>
          <Trans>Programs are refused until the next month. The console goes on: its calls are none of these.</Trans>
        </p>
      )}
    </>
  );
}
