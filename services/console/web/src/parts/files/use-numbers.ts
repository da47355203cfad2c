// Counts and sizes in the language of the page.
import { useLingui } from '@lingui/react';
import { localeOf } from '../../language/locale.ts';
import { sizeText } from './size-text.ts';

type Numbers = {
  /** `2,032` */
  count: (value: number) => string;
  /** `126 kB` */
  size: (bytes: number) => string;
  /** Of milliseconds: `2.3 sec` */
  seconds: (milliseconds: number) => string;
};

export function useNumbers(): Numbers {
  const locale = localeOf(useLingui().i18n.locale);
  const format = new Intl.NumberFormat(locale);
  const time = new Intl.NumberFormat(locale, { style: 'unit', unit: 'second', maximumFractionDigits: 1 });
  return {
    count: (value) => format.format(value),
    size: (bytes) => sizeText(bytes, locale),
    seconds: (milliseconds) => time.format(milliseconds / 1_000),
  };
}
