import type { Schemas } from '../../api/client.ts';
import { isDataType } from '../definition/data-types.ts';
import { readLines } from '../definition/valid-values.ts';

type ColumnValues = Schemas['NewColumnDefinition'];

/** The column that the fields of its form describe. A field that is not shown has no value. */
export function readColumn(values: Record<string, string>): ColumnValues {
  const { name = '', data_type = '', foreign_key_table_id: target = '', description = '' } = values;
  return {
    name: name.trim(),
    data_type: isDataType(data_type) ? data_type : 'string',
    length: readCount(values.length),
    scale: readCount(values.scale),
    is_primary_key: values.is_primary_key === 'on',
    is_required: values.is_required === 'on',
    foreign_key_table_id: target === '' ? null : Number(target),
    is_hierarchy: values.is_hierarchy === 'on',
    valid_values: readLines(values.valid_values ?? ''),
    description: description.trim() === '' ? null : description,
  };
}

function readCount(text = ''): number | null {
  return text.trim() === '' ? null : Number(text);
}
