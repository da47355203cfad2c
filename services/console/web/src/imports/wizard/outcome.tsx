import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleAlert, CircleCheck } from 'lucide-react';
import { changeRequestQuery } from '../../api/queries.ts';
import { buttonLook } from '../../parts/button.tsx';
import type { ImportTable } from '../queries.ts';
import styles from '../wizard.module.css';

/** What came of the import, and where to go from it. */
export function Outcome({ table }: { table: ImportTable }) {
  const { applied_as, status, change_request_id, table_definition_key, import_id } = table;
  const hasFailed = status === 'failed' || status === 'cancelled';
  return (
    <div className={styles.outcome} data-failed={hasFailed || undefined} role="status">
      {hasFailed ? <CircleAlert size={20} aria-hidden /> : <CircleCheck size={20} aria-hidden />}
      <strong>
        {hasFailed ? (
          <Trans>The rows were not loaded</Trans>
        ) : change_request_id !== null ? (
          <Proposed requestId={change_request_id} />
        ) : (
          <Trans>The rows are loaded</Trans>
        )}
      </strong>
      <span className={styles.acts}>
        {change_request_id !== null && (
          <Link to="/requests/$id" params={{ id: String(change_request_id) }} className={buttonLook('primary')}>
            <Trans>Open the change request</Trans>
          </Link>
        )}
        <Link
          to="/t/$key"
          params={{ key: table_definition_key }}
          className={buttonLook(applied_as === 'rows' ? 'primary' : 'plain')}
        >
          <Trans>Open the table</Trans>
        </Link>
        <Link to="/imports/$id" params={{ id: String(import_id) }} className={buttonLook('plain')}>
          <Trans>Open the import</Trans>
        </Link>
      </span>
    </div>
  );
}

function Proposed({ requestId }: { requestId: number }) {
  const { data } = useQuery(changeRequestQuery(requestId));
  if (!data) return <Trans>The changes are proposed</Trans>;
  if (data.status === 'draft')
    return <Trans>The changes are a draft, since some have problems: correct them and send it for review</Trans>;
  return <Trans>The changes are proposed, and wait for review</Trans>;
}
