import { Trans } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { EmptyState } from '../../parts/states.tsx';

/** In place of a page of a table that is not there, with the reason. */
export function NoSuchTable({ tableKey: key, children }: { tableKey: string; children: ReactNode }) {
  return (
    <EmptyState
      title={<Trans>There is no table “{key}” here</Trans>}
      action={
        <Link to="/tables">
          <Trans>All tables</Trans>
        </Link>
      }
    >
      {children}
    </EmptyState>
  );
}
