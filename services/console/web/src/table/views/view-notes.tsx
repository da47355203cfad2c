// What is the matter with the chosen view, in a sentence each.
import { Trans } from '@lingui/react/macro';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { explainError } from '../../api/explain-error.ts';
import { Button } from '../../parts/button.tsx';
import { noDifference } from './state/difference.ts';
import type { ChosenView } from './use-chosen-view.ts';
import styles from './views.module.css';

type ViewNotesProps = { chosen: ChosenView /** Why the view was not saved. */; refusal: string[] };

export function ViewNotes({ chosen, refusal }: ViewNotesProps) {
  const navigate = useNavigate({ from: '/t/$key' });
  const names = chosen.missingColumns.join(', ');
  return (
    <>
      {chosen.isMissing && (
        <Note>
          {chosen.view ? (
            <Trans>
              “{chosen.view.name}” was deleted, or is not shared any more. What you see stays until you leave: save it
              as a new view to keep it.
            </Trans>
          ) : (
            <Trans>The view of this link was deleted, or is another person’s private one. These are all rows.</Trans>
          )}
          <Button
            kind="quiet"
            onPress={() =>
              void navigate({ to: '.', search: (search) => ({ ...search, ...noDifference, view: 'all' as const }) })
            }
          >
            <Trans>Show all rows</Trans>
          </Button>
        </Note>
      )}
      {names && (
        <Note>
          <Trans>
            The view filters or sorts by columns that the table no longer has: {names}. They are left out, so there may
            be more rows.
          </Trans>
        </Note>
      )}
      {chosen.error !== null && (
        <Note>
          <Trans>The saved views did not load: {explainError(chosen.error).lines.join(' ')}</Trans>
          <Button kind="quiet" onPress={chosen.retry}>
            <Trans>Try again</Trans>
          </Button>
        </Note>
      )}
      {refusal.map((line) => (
        <Note key={line}>{line}</Note>
      ))}
    </>
  );
}

function Note({ children }: { children: ReactNode }) {
  return (
    <div className={styles.note} role="alert">
      {children}
    </div>
  );
}
