import { Trans, useLingui } from '@lingui/react/macro';
import { localeOf } from '../../language/locale.ts';
import tableStyles from '../../parts/blocks/scrolled-table.module.css';
import { ScrolledTable } from '../../parts/blocks/scrolled-table.tsx';
import type { UsageSums } from './usage-sums.ts';

type DayTableProps = { sums: UsageSums; days: string[]; nameOf: (key: string) => string };

/** The numbers of the chart, the newest day first. */
export function DayTable({ sums: { series, byDay }, days, nameOf }: DayTableProps) {
  const { t, i18n } = useLingui();
  const format = new Intl.DateTimeFormat(localeOf(i18n.locale), { dateStyle: 'medium', timeZone: 'UTC' });
  const newestFirst = days.map((day, place) => ({ day, place })).toReversed();
  return (
    <ScrolledTable label={t`Calls by day`}>
      <thead>
        <tr>
          <th scope="col">
            <Trans>Day</Trans>
          </th>
          <th scope="col" className={tableStyles.number}>
            <Trans>All</Trans>
          </th>
          {series.map(({ key }) => (
            <th key={key} scope="col" className={tableStyles.number}>
              {nameOf(key)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {newestFirst.map(({ day, place }) => (
          <tr key={day}>
            <th scope="row">{format.format(new Date(day))}</th>
            <td className={tableStyles.number}>{i18n.number(byDay[place] ?? 0)}</td>
            {series.map(({ key, byDay }) => (
              <td key={key} className={tableStyles.number}>
                {i18n.number(byDay[place] ?? 0)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </ScrolledTable>
  );
}
