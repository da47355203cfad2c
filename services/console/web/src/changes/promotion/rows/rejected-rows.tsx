// The rows that were left out of a promotion that has ended, and why.
import { Plural, Trans } from '@lingui/react/macro';
import { useInfiniteQuery } from '@tanstack/react-query';
import { client } from '../../../api/client.ts';
import { More } from '../../../diff/more.tsx';
import { rowWindows, windowFrom } from '../../../diff/row-windows.ts';
import pageStyles from '../../../parts/page.module.css';
import { Person } from '../../../parts/person.tsx';
import { Time } from '../../../parts/time.tsx';
import type { Promotion } from '../../change-queries.ts';
import styles from '../../changes.module.css';

export function RejectedRows({ promotion: { id, table_definitions: tables } }: { promotion: Promotion }) {
  const windows = useInfiniteQuery({
    queryKey: ['row_decisions', id],
    ...rowWindows,
    queryFn: ({ pageParam, signal }) => {
      const query = { decision: 'rejected' as const, ...windowFrom(pageParam) };
      return client.get('/promotions/{id}/decisions', { params: { path: { id }, query }, signal });
    },
  });
  const rows = windows.data?.pages.flatMap((page) => page.rows) ?? [];
  const total = windows.data?.pages[0]?.rowCount ?? 0;
  if (total === 0) return null;
  return (
    <section className={styles.part} aria-labelledby="rejected-title">
      <h2 id="rejected-title">
        <Plural value={total} one="# rejected row" other="# rejected rows" />
      </h2>
      <p className={pageStyles.quiet}>
        <Trans>They stayed as the target had them, and keep their values on the branch.</Trans>
      </p>
      <ul>
        {rows.map(({ table_definition_id: tableId, key, comment, decided_by: by, decided_at: at }) => (
          <li key={JSON.stringify([tableId, key])}>
            {tables.find((table) => table.id === tableId)?.name} <strong>{Object.values(key).join(' ')}</strong>
            {comment && `: ${comment}`}{' '}
            <span className={pageStyles.quiet}>
              <Person id={by} /> {at && <Time instant={at} />}
            </span>
          </li>
        ))}
      </ul>
      <More shown={rows.length} total={total} windows={windows} />
    </section>
  );
}
