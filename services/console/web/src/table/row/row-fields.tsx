import { Trans } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import { writeFilters } from '../../address/view.ts';
import type { Column, Row, Table } from '../../api/queries.ts';
import { type CellFormats, cellText } from '../../cells/cell-text.ts';
import { equalsFilter } from '../../grid/equals-filter.ts';
import { Time } from '../../parts/time.tsx';
import styles from './row-panel.module.css';

type RowFieldsProps = { row: Row; table: Table; tables: Table[]; formats: CellFormats };

/** The columns of a row in their order, in full. */
export function RowFields({ row, table, tables, formats }: RowFieldsProps) {
  const columns = table.column_definitions.toSorted((a, b) => a.position - b.position);
  return (
    <dl className={styles.fields}>
      {columns.map((column) => (
        <div key={column.id}>
          <dt>{column.name}</dt>
          <dd className={column.is_primary_key ? styles.key : ''}>
            <Value row={row} column={column} tables={tables} formats={formats} />
          </dd>
        </div>
      ))}
      <div>
        <dt>
          <Trans>changed</Trans>
        </dt>
        <dd>
          <Time instant={row.svc_updated_at} />{' '}
          <span className={styles.none}>
            <Trans>version {row.svc_version}</Trans>
          </span>
        </dd>
      </div>
    </dl>
  );
}

type ValueProps = { row: Row; column: Column; tables: Table[]; formats: CellFormats };

function Value({ row, column, tables, formats }: ValueProps) {
  const value = row[column.name];
  if (value === null || value === undefined)
    return (
      <span className={styles.none}>
        <Trans>no value</Trans>
      </span>
    );
  if (column.data_type === 'json') return <code>{JSON.stringify(value, null, 2)}</code>;
  const text = cellText(row, column, formats);
  const referenced = tables.find(({ table_definition_id }) => table_definition_id === column.foreign_key_table_id);
  const key = referenced && referencedKey(referenced, column);
  if (!referenced || !key) return text;
  const filter = writeFilters({ [key.name]: equalsFilter(key, value) });
  return (
    <Link to="/t/$key" params={{ key: referenced.key }} search={(search) => ({ branch: search.branch, filter })}>
      {text}
    </Link>
  );
}

/** The column that is referred to. Of a key of several columns it is the one of the same name. */
function referencedKey({ column_definitions }: Table, { name }: Column): Column | undefined {
  const keys = column_definitions.filter(({ is_primary_key }) => is_primary_key);
  return keys.length === 1 ? keys[0] : keys.find((key) => key.name === name);
}
