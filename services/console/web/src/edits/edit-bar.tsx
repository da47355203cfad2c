// Below the rows: what is changed and not saved, and what can be done with it.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { ChevronDown, Redo2, Undo2 } from 'lucide-react';
import { isSignedOut, signIn } from '../api/client.ts';
import { explainError } from '../api/explain-error.ts';
import { Button } from '../parts/button.tsx';
import { ChoiceMenu } from '../parts/choice-menu.tsx';
import type { EditMode } from './edit-mode.ts';
import styles from './edits.module.css';
import type { EditedTable } from './use-edits.ts';

type EditBarProps = {
  edited: EditedTable;
  mode: EditMode;
  modes: readonly EditMode[];
  onMode: (mode: EditMode) => void;
  onReview: () => void;
  onPropose: () => void;
};

export function EditBar({ edited, mode, modes, onMode, onReview, onPropose }: EditBarProps) {
  const { t } = useLingui();
  const words = useModeWords();
  const { edits, problems, isSaving, isRestored } = edited;
  const rows = edits.size;
  const refused = [...problems.values()].reduce((sum, { length }) => sum + length, 0);
  return (
    <div className={styles.bar}>
      <Button kind="quiet" aria-label={t`Undo`} isDisabled={!edited.canUndo || isSaving} onPress={edited.undo}>
        <Undo2 size={16} aria-hidden />
      </Button>
      <Button kind="quiet" aria-label={t`Redo`} isDisabled={edited.future.length === 0} onPress={edited.redo}>
        <Redo2 size={16} aria-hidden />
      </Button>
      <span role="status" className={styles.summary}>
        {isSaving ? (
          <Trans>Saving…</Trans>
        ) : rows > 0 ? (
          <>
            {isRestored && <Trans>Kept from before:</Trans>}{' '}
            <Plural value={rows} one="# row changed" other="# rows changed" />
            {refused > 0 && (
              <span className={styles.refused}>
                {' '}
                · <Plural value={refused} one="# problem" other="# problems" />
              </span>
            )}
          </>
        ) : (
          edited.past.length === 0 && edited.canUndo && <Trans>Saved</Trans>
        )}
      </span>
      <Failure edited={edited} />
      {rows > 0 && (
        <>
          <Button kind="quiet" onPress={onReview}>
            <Trans>Review</Trans>
          </Button>
          <Button onPress={edited.discard} isDisabled={isSaving}>
            <Trans>Discard</Trans>
          </Button>
          {mode === 'propose' ? (
            <Button kind="primary" onPress={onPropose}>
              <Trans>Propose…</Trans>
            </Button>
          ) : (
            <Button kind="primary" onPress={edited.save} isDisabled={isSaving}>
              <Plural value={rows} one="Save # row" other="Save # rows" />
            </Button>
          )}
        </>
      )}
      {modes.length > 1 ? (
        <ChoiceMenu
          label={t`How changes are saved: ${words[mode].state}`}
          groups={[
            {
              id: 'mode',
              title: t`Changes of rows`,
              choices: modes.map((id) => ({ id, name: words[id].name, note: words[id].note })),
              chosen: mode,
              onChoose: (id) => onMode(id as EditMode),
            },
          ]}
        >
          {words[mode].state}
          <ChevronDown size={14} aria-hidden />
        </ChoiceMenu>
      ) : (
        <span className={styles.mode}>
          {mode === 'propose' && <Trans>Changes here are proposed, and others approve them</Trans>}
        </span>
      )}
    </div>
  );
}

/** Why nothing was saved; the changes are still there. */
function Failure({ edited: { failure, isUnanswered } }: { edited: EditedTable }) {
  if (failure === undefined) return null;
  if (isSignedOut(failure))
    return (
      <span className={styles.refused} role="alert">
        <Trans>Your session has ended. Your changes are kept.</Trans>{' '}
        <Button onPress={signIn}>
          <Trans>Sign in again</Trans>
        </Button>
      </span>
    );
  const { status, lines } = explainError(failure);
  if (isUnanswered)
    return (
      <span className={styles.refused} role="alert">
        <Trans>There was no answer. Your changes are kept: save them again, and nothing is written twice.</Trans>{' '}
        {status !== undefined && lines.join(' ')}
      </span>
    );
  return (
    <span className={styles.refused} role="alert">
      <Trans>Not saved:</Trans> {lines.join(' ')}
    </span>
  );
}

/** The names of the ways in which changes reach the table, with what each means. */
function useModeWords(): Record<EditMode, { name: string; note: string; state: string }> {
  const { t } = useLingui();
  return {
    direct: { name: t`Save at once`, note: t`each change, as it is made`, state: t`saved at once` },
    draft: { name: t`Save together`, note: t`all or none, when you say so`, state: t`saved together` },
    propose: { name: t`Propose`, note: t`others approve them first`, state: t`proposed` },
  };
}
