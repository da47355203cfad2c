// The columns of a new table while they are edited, before anything is stored.
import type { Schemas } from '../../api/client.ts';
import { type DataType, hasLength, isDataType } from '../definition/data-types.ts';

export type NewColumn = {
  /** Only here, for lists. */
  id: string;
  /** Its name in the file; undefined for one that was added by hand. */
  source: string | undefined;
  name: string;
  data_type: DataType;
  length: string;
  scale: string;
  is_primary_key: boolean;
  is_required: boolean;
  /** What the service says about its guess. */
  notes: string[];
};

type Inferred = Pick<Schemas['InferColumnsResult'], 'columns' | 'column_definitions'>;

/** The columns that were inferred from the file, in its order. */
export function columnsOf({ columns, column_definitions }: Inferred): NewColumn[] {
  return column_definitions.map((column, place) => ({
    id: `${place}`,
    source: columns.find(({ name }) => name === column.name)?.source_column,
    name: column.name,
    data_type: isDataType(column.data_type) ? column.data_type : 'text',
    length: column.length?.toString() ?? '',
    scale: column.scale?.toString() ?? '',
    is_primary_key: column.is_primary_key,
    is_required: column.is_required,
    notes: columns.find(({ name }) => name === column.name)?.notes ?? [],
  }));
}

export function emptyColumn(): NewColumn {
  const plain = { length: '', scale: '', is_primary_key: false, is_required: false, notes: [] };
  return { id: crypto.randomUUID(), source: undefined, name: '', data_type: 'string', ...plain };
}

/** The columns with one of them moved by places, which stays within the list. */
export function moveColumn(columns: NewColumn[], id: string, by: 1 | -1): NewColumn[] {
  const from = columns.findIndex((column) => column.id === id);
  const column = columns[from];
  if (column === undefined || columns[from + by] === undefined) return columns;
  return columns.toSpliced(from, 1).toSpliced(from + by, 0, column);
}

/** The column as the service stores it. */
export function bodyOf(column: NewColumn): Schemas['NewColumnDefinition'] {
  const { name, data_type, length, scale, is_primary_key, is_required } = column;
  return {
    ...{ name: name.trim(), data_type, is_primary_key, is_required },
    ...(hasLength(data_type) && length.trim() !== '' && { length: Number(length) }),
    ...(data_type === 'decimal' && scale.trim() !== '' && { scale: Number(scale) }),
  };
}

/** A name for the table, of the name of its file: `Country codes` of `country_codes.csv.gz`. */
export function nameOfFile(file: string): string {
  const words = file
    .replace(/(?:\.[A-Za-z0-9]{1,7}){1,2}$/, '')
    .replaceAll(/[_\s]+/g, ' ')
    .replace(/^[^\p{L}]+/u, '')
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
