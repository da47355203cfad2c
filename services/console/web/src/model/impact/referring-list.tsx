import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Column, Table } from '../../api/queries.ts';
import tableStyles from '../../parts/blocks/scrolled-table.module.css';
import { ScrolledTable } from '../../parts/blocks/scrolled-table.tsx';
import { useNumbers } from '../../parts/files/use-numbers.ts';
import styles from './impact.module.css';
import { filledRowsQuery } from './queries.ts';
import { directlyReferring, indirectlyReferring } from './referring-tables.ts';

/** The tables that refer to a table, each column with how many rows have a value in it. */
export function ReferringTables({ table, tables }: { table: Table; tables: Table[] }) {
  const { t } = useLingui();
  const direct = directlyReferring(table.id, tables);
  const behind = indirectlyReferring(table.id, tables);
  if (direct.length === 0)
    return (
      <p>
        <Trans>None that you may view.</Trans>
      </p>
    );
  return (
    <>
      <ScrolledTable label={t`Tables that refer to it`}>
        <thead>
          <tr>
            <th scope="col">
              <Trans>Table</Trans>
            </th>
            <th scope="col">
              <Trans>Column</Trans>
            </th>
            <th scope="col" className={tableStyles.number}>
              <Trans>Rows that refer</Trans>
            </th>
          </tr>
        </thead>
        <tbody>
          {direct.flatMap(({ table: other, columns }) =>
            columns.map((column) => (
              <tr key={column.id}>
                <th scope="row">
                  <Link to="/t/$key" params={{ key: other.key }}>
                    {other.name}
                  </Link>
                </th>
                <td>
                  <code>{column.name}</code>
                </td>
                <td className={tableStyles.number}>
                  <FilledRows tableId={other.id} column={column} />
                </td>
              </tr>
            )),
          )}
        </tbody>
      </ScrolledTable>
      {behind.length > 0 && (
        <p className={styles.note}>
          <Plural
            value={behind.length}
            one="Behind them is # more table that refers to one of them:"
            other="Behind them are # more tables that refer to one of them:"
          />{' '}
          {behind.map(({ id, key, name }, place) => (
            <span key={id}>
              {place > 0 && ', '}
              <Link to="/t/$key/impact" params={{ key }}>
                {name}
              </Link>
            </span>
          ))}
        </p>
      )}
    </>
  );
}

function FilledRows({ tableId, column }: { tableId: number; column: Column }) {
  const { count } = useNumbers();
  const { data, error } = useQuery(filledRowsQuery(tableId, column));
  if (error) return <Trans>not known</Trans>;
  return data === undefined ? '…' : count(data);
}
