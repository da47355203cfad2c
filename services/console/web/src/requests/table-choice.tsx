import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import pageStyles from '../parts/page.module.css';
import reviewStyles from '../parts/review/review.module.css';
import type { ChangeRequest } from './queries.ts';
import { countsOf } from './request-counts.ts';
import styles from './review.module.css';

type Table = ChangeRequest['table_definitions'][number];

type TableChoiceProps = {
  requestId: number;
  tables: Table[];
  chosen: number;
  viewed: readonly number[];
  onViewed: (tableId: number) => void;
};

/** The tables of a request with what it does to them, each with a mark that one has viewed it. */
export function TableChoice({ requestId, tables, chosen, viewed, onViewed }: TableChoiceProps) {
  const { t } = useLingui();
  const seen = tables.filter(({ id }) => viewed.includes(id)).length;
  return (
    <nav className={`${reviewStyles.tables} ${styles.tables}`} aria-label={t`Tables of the request`}>
      <p className={reviewStyles.count}>
        <Trans>
          {seen} of {tables.length} viewed
        </Trans>
      </p>
      <ul>
        {tables.map((table) => (
          <li key={table.id} data-chosen={table.id === chosen || undefined}>
            <Link
              to="/requests/$id"
              params={{ id: String(requestId) }}
              search={({ branch }) => ({ branch, table: table.id })}
              resetScroll={false}
              activeOptions={{ exact: true }}
              activeProps={{}}
              aria-current={table.id === chosen ? 'true' : undefined}
            >
              <span>{table.name}</span>
              <span className={reviewStyles.count}>
                {countsOf(table)}
                {table.with_problems > 0 && (
                  <span className={pageStyles.bad}>
                    {' · '}
                    <Plural value={table.with_problems} one="# problem or conflict" other="# problems or conflicts" />
                  </span>
                )}
              </span>
            </Link>
            <label title={t`Viewed (v)`}>
              <input
                type="checkbox"
                checked={viewed.includes(table.id)}
                aria-label={t`${table.name}: viewed`}
                onChange={() => onViewed(table.id)}
              />
            </label>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Those with problems or conflicts first, then as they are. */
export function inOrder(tables: readonly Table[]): Table[] {
  return tables.toSorted((a, b) => Number(b.with_problems > 0) - Number(a.with_problems > 0));
}
