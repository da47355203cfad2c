import { Trans } from '@lingui/react/macro';
import { Button } from '../parts/button.tsx';
import { EmptyState } from '../parts/states.tsx';

/** In place of rows: that there are none, or that none matches. */
export function NoRows({ isNarrowed, onClear }: { isNarrowed: boolean; onClear: () => void }) {
  if (!isNarrowed)
    return (
      <EmptyState title={<Trans>This table has no rows yet</Trans>}>
        <Trans>Add one by “New row”, or import a file.</Trans>
      </EmptyState>
    );
  return (
    <EmptyState
      title={<Trans>No row matches the search and the filters</Trans>}
      action={
        <Button onPress={onClear}>
          <Trans>Clear search and filters</Trans>
        </Button>
      }
    />
  );
}
