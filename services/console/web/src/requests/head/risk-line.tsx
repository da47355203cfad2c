import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { localeOf } from '../../language/locale.ts';
import { type ChangeRequest, ended, rowCountsQuery } from '../queries.ts';
import styles from './head.module.css';
import { risksOf } from './risk.ts';

/**
 * What deserves a second look: rows that would be deleted, and tables that change in large part.
 */
export function RiskLine({ request }: { request: ChangeRequest }) {
  const { i18n } = useLingui();
  const { table_definitions: tables, branch_id, status } = request;
  const isOpen = !ended.includes(status) && tables.length > 0;
  const ids = tables.map(({ id }) => id);
  const { data: rowCounts } = useQuery({ ...rowCountsQuery(branch_id, ids), enabled: isOpen });
  const { deletions, shares } = risksOf(tables, rowCounts ?? new Map());
  if (!isOpen || (deletions === 0 && shares.length === 0)) return null;
  const percent = new Intl.NumberFormat(localeOf(i18n.locale), { style: 'percent' });
  return (
    <p className={styles.risk}>
      <TriangleAlert size={16} aria-hidden />
      <span>
        {deletions > 0 && <Plural value={deletions} one="# row is deleted" other="# rows are deleted" />}
        {shares.map(({ table, share }, place) => (
          <span key={table}>
            {(deletions > 0 || place > 0) && ' · '}
            <Trans>
              {percent.format(share)} of the rows of {table}
            </Trans>
          </span>
        ))}
      </span>
    </p>
  );
}
