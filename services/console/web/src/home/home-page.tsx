// The first page: what waits for this person, and the tables used last.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTables } from '../address/use-branch.ts';
import { meQuery } from '../api/queries.ts';
import styles from '../parts/page.module.css';
import { Page } from '../parts/page.tsx';
import { ErrorState, Skeleton } from '../parts/states.tsx';
import { NoTables } from '../tables/no-tables.tsx';
import { recentFirst } from '../tables/recent-tables.ts';
import { TableLine } from '../tables/table-line.tsx';
import { InboxList } from './inbox-list.tsx';

const shown = 6;

export function HomePage() {
  const { t } = useLingui();
  const { data: me } = useQuery(meQuery);
  const name = me?.user?.first_name;
  return (
    <Page title={name ? t`Good to see you, ${name}` : t`Home`}>
      <section className={styles.section} id="inbox" aria-labelledby="inbox-title">
        <h2 id="inbox-title">
          <Trans>Waiting for you</Trans>
        </h2>
        <InboxList />
      </section>
      <section className={styles.section} aria-labelledby="tables-title">
        <h2 id="tables-title">
          <Trans>Tables you use</Trans>
        </h2>
        <UsedTables />
      </section>
    </Page>
  );
}

function UsedTables() {
  const { data, error, retry } = useTables();
  if (error) return <ErrorState error={error} onRetry={retry} />;
  if (!data) return <Skeleton lines={4} />;
  if (data.length === 0) return <NoTables />;
  return (
    <>
      <ul className={styles.list}>
        {recentFirst(data)
          .slice(0, shown)
          .map((table) => (
            <li key={table.id}>
              <TableLine table={table} />
            </li>
          ))}
      </ul>
      {data.length > shown && (
        <p style={{ marginTop: 8 }}>
          <Link to="/tables">
            <Trans>All {data.length} tables</Trans>
          </Link>
        </p>
      )}
    </>
  );
}
