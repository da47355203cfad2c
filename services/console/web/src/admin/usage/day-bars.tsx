// Calls by day as stacked bars. The numbers are in the tables beside it.
import { useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import { localeOf } from '../../language/locale.ts';
import { layBars, roundUp } from './bar-layout.ts';
import styles from './usage.module.css';
import type { UsageSums } from './usage-sums.ts';

// Units of the picture; it is as wide as the page.
const size = { width: 960, height: 200 };
const steps = [0, 0.5, 1];

type DayBarsProps = { sums: UsageSums; days: string[]; nameOf: (key: string) => string };

export function DayBars({ sums, days, nameOf }: DayBarsProps) {
  const { t, i18n } = useLingui();
  const [pointed, setPointed] = useState<number>();
  const highest = roundUp(Math.max(...sums.byDay));
  const format = new Intl.DateTimeFormat(localeOf(i18n.locale), { day: 'numeric', month: 'short', timeZone: 'UTC' });
  const dayName = (day: string | undefined) => format.format(new Date(day ?? ''));
  const [first, last] = [dayName(days[0]), dayName(days.at(-1))];
  const total = i18n.number(sums.total);
  const step = size.width / days.length;
  return (
    <figure className={styles.chart}>
      <div className={styles.scale} aria-hidden>
        {steps.toReversed().map((step) => (
          <span key={step}>{i18n.number(highest * step, { notation: 'compact' })}</span>
        ))}
      </div>
      <svg
        viewBox={`0 0 ${size.width} ${size.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t`${total} calls by day, from ${first} to ${last}; the numbers are in the tables below`}
        onPointerLeave={() => setPointed(undefined)}
      >
        {steps.map((step) => (
          <line
            key={step}
            className={styles.line}
            x1={0}
            x2={size.width}
            y1={step * size.height}
            y2={step * size.height}
          />
        ))}
        {layBars(sums.series, days.length, highest, size).map(({ series, day, ...place }) => (
          <rect key={`${series}:${day}`} {...place} className={styles.bar} data-series={series} />
        ))}
        {days.map((day, index) => (
          <rect
            key={day}
            className={styles.day}
            x={index * step}
            y={0}
            width={step}
            height={size.height}
            onPointerEnter={() => setPointed(index)}
          />
        ))}
      </svg>
      <div className={styles.ends} aria-hidden>
        <span>{first}</span>
        <span>{last}</span>
      </div>
      <figcaption className={styles.pointed}>
        {pointed === undefined ? (
          <span>{t`Calls a day in UTC`}</span>
        ) : (
          <>
            <strong>
              {dayName(days[pointed])}: {i18n.number(sums.byDay[pointed] ?? 0)}
            </strong>
            {sums.series
              .filter(({ byDay }) => byDay[pointed])
              .map(({ key, byDay }) => ` · ${nameOf(key)} ${i18n.number(byDay[pointed] ?? 0)}`)}
          </>
        )}
      </figcaption>
    </figure>
  );
}
