import { useLingui } from '@lingui/react/macro';
import type { Schemas } from '../../api/client.ts';

type DateStyle = Schemas['Account']['date_style'];

/** How dates in files may be written, each with an example. */
export function useDateStyles(): Record<DateStyle, string> {
  const { t } = useLingui();
  return {
    ISO: t`the year first: 2026-11-26`,
    DMY: t`the day first: 26/11/2026`,
    MDY: t`the month first: 11/26/2026`,
  };
}
