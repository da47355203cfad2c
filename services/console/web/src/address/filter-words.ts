import { useLingui } from '@lingui/react/macro';

type Condition = { type?: string; filter?: unknown; filterTo?: unknown; dateFrom?: string; dateTo?: string };
type Model = Condition & { filterType?: string; operator?: string; conditions?: Condition[]; values?: unknown[] };

/** A filter in words, for its chip: `name contains “land”`. */
export function useFilterWords(): (columnName: string, model: unknown) => string {
  const { t } = useLingui();
  const operators: Record<string, string> = {
    contains: t`contains`,
    notContains: t`does not contain`,
    equals: t`is`,
    notEqual: t`is not`,
    startsWith: t`begins with`,
    endsWith: t`ends with`,
    lessThan: '<',
    lessThanOrEqual: '≤',
    greaterThan: '>',
    greaterThanOrEqual: '≥',
    blank: t`has no value`,
    notBlank: t`has a value`,
    inRange: t`between`,
  };
  const condition = ({ type = '', filter, filterTo, dateFrom, dateTo }: Condition) => {
    const from = filter ?? dateFrom?.slice(0, 10);
    const to = type === 'inRange' ? (filterTo ?? dateTo?.slice(0, 10)) : undefined;
    return [operators[type] ?? type, from, to === undefined ? undefined : `– ${String(to)}`]
      .filter((part) => part !== undefined)
      .join(' ');
  };
  return (columnName, given) => {
    const model = given as Model;
    const name = columnName === 'svc_updated_at' ? t`changed` : columnName;
    if (model.values)
      return `${name}: ${model.values.map((value) => (value === null ? t`(no value)` : String(value))).join(', ')}`;
    const joint = model.operator === 'OR' ? t`or` : t`and`;
    return `${name} ${(model.conditions ?? [model]).map(condition).join(` ${joint} `)}`;
  };
}
