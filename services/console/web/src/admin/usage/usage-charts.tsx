import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { Notice } from '../../parts/blocks/notice.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { DayBars } from './day-bars.tsx';
import { DayTable } from './day-table.tsx';
import { TotalsTable } from './totals-table.tsx';
import { usageQuery } from './usage-query.ts';
import { sumUsage } from './usage-sums.ts';
import { type Channel, daysOf, type Grouping, type Period } from './usage-view.ts';
import { useSeriesNames } from './use-series-names.ts';

// As many as the colours of the chart.
const mostSeries = 6;

type UsageChartsProps = { channel: Channel; by: Grouping; period: Period; groupingName: string };

export function UsageCharts({ channel, by, period, groupingName }: UsageChartsProps) {
  const view = useSearch({ from: '/admin/usage' });
  const nameOf = useSeriesNames(by);
  const { data, error, refetch } = useQuery(usageQuery(channel, period));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton lines={8} />;
  const days = daysOf(period);
  const sums = sumUsage(data.lines, by, days, mostSeries);
  if (sums.total === 0)
    return (
      <EmptyState
        title={<Trans>No call in this period</Trans>}
        action={
          <Link to="/admin/usage" search={{ ...view, from: undefined, to: undefined }}>
            <Trans>Show this month</Trans>
          </Link>
        }
      />
    );
  return (
    <>
      {!data.isAll && (
        <Notice kind="warning">
          <Trans>
            The period has more calls than this page adds up: the earliest days are missing. Choose a shorter one.
          </Trans>
        </Notice>
      )}
      <DayBars sums={sums} days={days} nameOf={nameOf} />
      <TotalsTable sums={sums} nameOf={nameOf} groupingName={groupingName} />
      <p style={{ margin: '12px 0' }}>
        {view.days === 'table' ? (
          <Link to="/admin/usage" search={{ ...view, days: undefined }} resetScroll={false}>
            <Trans>Hide the numbers by day</Trans>
          </Link>
        ) : (
          <Link to="/admin/usage" search={{ ...view, days: 'table' }} resetScroll={false}>
            <Trans>Show the numbers by day</Trans>
          </Link>
        )}
      </p>
      {view.days === 'table' && <DayTable sums={sums} days={days} nameOf={nameOf} />}
    </>
  );
}
