import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { Link, useSearch } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import pageStyles from '../../parts/page.module.css';
import styles from '../admin.module.css';

/** How many entries match, and the way to newer and older ones. */
export function AuditPages({ meta: { page, total_pages, total_count } }: { meta: Schemas['PageMeta'] }) {
  const { t, i18n } = useLingui();
  const view = useSearch({ from: '/admin/audit' });
  const to = (page: number) => ({ ...view, page: page === 1 ? undefined : page, event: undefined });
  const count = i18n.number(total_count);
  return (
    <div className={styles.bar}>
      <span role="status">
        <Plural value={total_count} one={`${count} entry`} other={`${count} entries`} />
      </span>
      {total_pages > 1 && (
        <nav className={pageStyles.tools} aria-label={t`Pages of entries`}>
          {page > 1 && (
            <Link to="/admin/audit" search={to(page - 1)}>
              <Trans>Newer</Trans>
            </Link>
          )}
          <span>
            <Trans>
              page {page} of {total_pages}
            </Trans>
          </span>
          {page < total_pages && (
            <Link to="/admin/audit" search={to(page + 1)}>
              <Trans>Older</Trans>
            </Link>
          )}
        </nav>
      )}
    </div>
  );
}
