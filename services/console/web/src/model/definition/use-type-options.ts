import { useLingui } from '@lingui/react/macro';
import { type DataType, dataTypes } from './data-types.ts';

/** The types as options of a field. */
export function useTypeOptions(): { id: DataType; name: string }[] {
  const { t } = useLingui();
  const words: Record<DataType, string> = {
    string: t`short text`,
    text: t`long text`,
    integer: t`whole number`,
    bigint: t`large whole number`,
    smallint: t`small whole number`,
    decimal: t`exact number`,
    real: t`approximate number`,
    double: t`approximate number, more digits`,
    boolean: t`yes or no`,
    date: t`day`,
    time: t`time of day`,
    datetime: t`day and time`,
    timestamptz: t`instant`,
    uuid: t`unique identifier`,
    json: t`structured value`,
  };
  return dataTypes.map((id) => ({ id, name: `${id} · ${words[id]}` }));
}
