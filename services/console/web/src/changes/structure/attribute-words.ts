import { useLingui } from '@lingui/react/macro';

type AttributeWords = { nameOf: (attribute: string) => string; wordsOf: (value: unknown) => string };

/** The attributes of tables and columns, and their values, as people read them. */
export function useAttributeWords(): AttributeWords {
  const { t } = useLingui();
  const names: Record<string, string> = {
    name: t`name`,
    description: t`description`,
    domain_id: t`domain`,
    load_type: t`rows come from`,
    lookup_display_column: t`column that names a row`,
    column_order: t`order of the columns`,
    data_type: t`type`,
    length: t`length`,
    scale: t`decimal places`,
    is_primary_key: t`key`,
    is_required: t`required`,
    foreign_key_table_key: t`refers to`,
    is_hierarchy: t`hierarchy`,
    valid_values: t`valid values`,
  };
  const wordsOf = (value: unknown): string => {
    if (value === null || value === undefined || value === '') return t`none`;
    if (typeof value === 'boolean') return value ? t`yes` : t`no`;
    if (Array.isArray(value)) return value.map(wordsOf).join(', ');
    if (typeof value === 'object') return JSON.stringify(value);
    return String(value).replaceAll('|', ' | ');
  };
  return { nameOf: (attribute) => names[attribute] ?? attribute.replaceAll('_', ' '), wordsOf };
}
