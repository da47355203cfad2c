import { Plural } from '@lingui/react/macro';
import type { ChangeRequest } from '../queries.ts';

/** `338 accepted · 4 rejected · 12 undecided`: how all operations of a request are decided. */
export function DecisionCounts({ counts }: Pick<ChangeRequest, 'counts'>) {
  const { accepted, rejected, returned, undecided } = counts;
  return (
    <p>
      <Plural value={accepted} one="# accepted" other="# accepted" />
      {' · '}
      <Plural value={rejected} one="# rejected" other="# rejected" />
      {returned > 0 && (
        <>
          {' · '}
          <Plural value={returned} one="# returned" other="# returned" />
        </>
      )}
      {' · '}
      <Plural value={undecided} one="# undecided" other="# undecided" />
    </p>
  );
}
