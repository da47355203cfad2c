// Why a step was refused, each problem of a row with a link to it.
import { Trans } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { Refusal } from '../../parts/form/form.tsx';
import type { ChangeRequest } from '../queries.ts';
import { refusedRows } from './refused.ts';
import styles from './steps.module.css';

type RefusedRowsProps = { request: ChangeRequest; error: unknown; onFollow: () => void };

export function RefusedRows({ request, error, onFollow }: RefusedRowsProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (error) place.current?.focus();
  }, [error]);
  const rows = refusedRows(error);
  if (rows.length === 0) return <Refusal error={error} />;
  return (
    <div ref={place} className={styles.refused} role="alert" tabIndex={-1}>
      <p>
        <strong>
          <Trans>Nothing was applied</Trans>
        </strong>
      </p>
      <ul>
        {rows.map(({ message, operationId, tableKey }) => (
          <li key={`${operationId}:${message}`}>
            {message}{' '}
            {operationId !== undefined && (
              <Link
                to="/requests/$id"
                params={{ id: String(request.id) }}
                search={({ branch }) => ({
                  branch,
                  table: request.table_definitions.find(({ key }) => key === tableKey)?.id,
                  operation: operationId,
                })}
                onClick={onFollow}
              >
                <Trans>Show the row</Trans>
              </Link>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
