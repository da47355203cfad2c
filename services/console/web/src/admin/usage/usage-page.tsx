// How the API and the console are used, by day and by who or what calls.
import { Trans, useLingui } from '@lingui/react/macro';
import { useSearch } from '@tanstack/react-router';
import { Page } from '../../parts/page.tsx';
import styles from '../admin.module.css';
import { ChoiceLinks } from '../parts/choice-links.tsx';
import { PeriodFields } from './period-fields.tsx';
import { UsageCharts } from './usage-charts.tsx';
import { channels, type Grouping, groupingsOf, periodOf } from './usage-view.ts';

export function UsagePage() {
  const { t } = useLingui();
  const view = useSearch({ from: '/admin/usage' });
  const channel = view.channel ?? 'api';
  const by = view.by ?? (groupingsOf(channel)[0] as Grouping);
  const period = periodOf(view, new Date());
  const channelNames = { api: t`API`, console: t`Console` };
  const groupingNames = { application: t`Application`, resource: t`Resource`, method: t`Method`, person: t`Person` };
  return (
    <Page
      title={t`Usage`}
      note={
        channel === 'api' ? (
          <Trans>Calls of programs. They count against the allowance.</Trans>
        ) : (
          <Trans>Calls of people in the console. They take nothing of the allowance.</Trans>
        )
      }
      actions={<PeriodFields period={period} />}
    >
      <div className={styles.bar}>
        <ChoiceLinks
          label={t`Through what`}
          choices={channels.map((id) => ({
            id,
            name: channelNames[id],
            link: { to: '/admin/usage', search: { ...view, channel: id === 'api' ? undefined : id, by: undefined } },
          }))}
        />
        <ChoiceLinks
          label={t`Sums by`}
          choices={groupingsOf(channel).map((id, place) => ({
            id,
            name: groupingNames[id],
            link: { to: '/admin/usage', search: { ...view, by: place === 0 ? undefined : id } },
          }))}
        />
      </div>
      <UsageCharts channel={channel} by={by} period={period} groupingName={groupingNames[by]} />
    </Page>
  );
}
