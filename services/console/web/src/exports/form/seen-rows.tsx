import { Plural, Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useFilterWords } from '../../address/filter-words.ts';
import { client } from '../../api/client.ts';
import type { Table } from '../../api/queries.ts';
import { Time } from '../../parts/time.tsx';
import styles from '../exports.module.css';
import type { ExportedView } from './new-export.ts';

type SeenRowsProps = { table: Table; view: ExportedView };

/** Which rows the file gets: those that one sees, with what limits them. */
export function SeenRows({ table, view }: SeenRowsProps) {
  const words = useFilterWords();
  const { filters, sort, q, asOf } = view;
  const { data: count } = useQuery({
    queryKey: ['rows', table.id, 'count', filters, q, asOf],
    queryFn: async ({ signal }) => {
      const limits = {
        filterModel: filters,
        ...(q !== undefined && { q }),
        ...(asOf !== undefined && { as_of: asOf }),
      };
      const body = { table_definition_id: table.id, startRow: 0, endRow: 1, ...limits };
      return (await client.post('/table_data/grid', { body, signal })).rowCount;
    },
  });
  const parts = Object.entries(filters).map(([name, model]) => words(name, model));
  const order = sort.map(({ column, direction }) => `${column} ${direction === 'asc' ? '↑' : '↓'}`).join(', ');
  return (
    <div className={styles.seen}>
      <p>
        {count !== undefined && <Plural value={count} one="# row, as you see it" other="# rows, as you see them" />}
        {asOf !== undefined && (
          <>
            {' '}
            <Trans>
              as of <Time instant={asOf} />
            </Trans>
          </>
        )}
      </p>
      {(parts.length > 0 || q !== undefined || order !== '') && (
        <ul>
          {parts.map((part) => (
            <li key={part}>{part}</li>
          ))}
          {q !== undefined && (
            <li>
              <Trans>search: {q}</Trans>
            </li>
          )}
          {order !== '' && (
            <li>
              <Trans>order: {order}</Trans>
            </li>
          )}
        </ul>
      )}
    </div>
  );
}
