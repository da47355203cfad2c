import { Trans } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import { EmptyState } from '../parts/states.tsx';

/** In the place of a list of tables that has none. */
export function NoTables() {
  return (
    <EmptyState title={<Trans>No table is deployed here yet</Trans>}>
      <Trans>A table appears here once its definition is deployed and you may view it.</Trans>{' '}
      <Link to="/tables/new">
        <Trans>Make a table from a spreadsheet</Trans>
      </Link>
    </EmptyState>
  );
}
