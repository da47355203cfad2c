import { Trans, useLingui } from '@lingui/react/macro';
import tableStyles from '../../parts/blocks/scrolled-table.module.css';
import { ScrolledTable } from '../../parts/blocks/scrolled-table.tsx';
import usageStyles from './usage.module.css';
import type { UsageSums } from './usage-sums.ts';

type TotalsTableProps = { sums: UsageSums; nameOf: (key: string) => string; groupingName: string };

/** The sums of the period, with the colours of the chart. */
export function TotalsTable({ sums: { series, total }, nameOf, groupingName }: TotalsTableProps) {
  const { t, i18n } = useLingui();
  const percent = (calls: number) => i18n.number(calls / total, { style: 'percent', maximumFractionDigits: 1 });
  return (
    <ScrolledTable label={t`Calls in the period`}>
      <thead>
        <tr>
          <th scope="col">{groupingName}</th>
          <th scope="col" className={tableStyles.number}>
            <Trans>Calls</Trans>
          </th>
          <th scope="col" className={tableStyles.number}>
            <Trans>Share</Trans>
          </th>
        </tr>
      </thead>
      <tbody>
        {series.map(({ key, calls }, index) => (
          <tr key={key}>
            <th scope="row">
              <span className={usageStyles.sample} data-series={index} aria-hidden />
              {nameOf(key)}
            </th>
            <td className={tableStyles.number}>{i18n.number(calls)}</td>
            <td className={tableStyles.number}>{percent(calls)}</td>
          </tr>
        ))}
        <tr>
          <th scope="row">
            <Trans>All</Trans>
          </th>
          <td className={tableStyles.number}>{i18n.number(total)}</td>
          <td className={tableStyles.number}>{percent(total)}</td>
        </tr>
      </tbody>
    </ScrolledTable>
  );
}
