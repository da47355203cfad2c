// The dialog of a change of all matches; where one may not make it, it says why and what to do.
import { Trans, useLingui } from '@lingui/react/macro';
import type { Table } from '../../api/queries.ts';
import type { Editing } from '../../edits/use-editing.ts';
import { Button } from '../../parts/button.tsx';
import formStyles from '../../parts/form/form.module.css';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import { ErrorState } from '../../parts/states.tsx';
import { ChangeAll } from './change-all.tsx';
import { DeleteAll } from './delete-all.tsx';
import { MatchedRows } from './matched-rows.tsx';
import { ProposeAll } from './propose-all.tsx';
import type { Written } from './use-bulk-write.ts';
import { type Narrowing, useMatches } from './use-matches.ts';

export type BulkDialogProps = {
  kind: 'change' | 'delete';
  table: Table;
  tables: readonly Table[];
  narrowing: Narrowing;
  isPast: boolean;
  editing: Editing;
  onDone: (written: Written) => void;
  onClose: () => void;
};

export function BulkDialog({ kind, isPast, editing, ...props }: BulkDialogProps) {
  const { t } = useLingui();
  const { table, onClose } = props;
  const isRefused = isPast || !editing.mayEdit;
  const label = kind === 'change' ? t`Change all matches of ${table.name}` : t`Delete all matches of ${table.name}`;
  return (
    <ModalDialog label={label} onClose={onClose}>
      {isRefused ? (
        <Refused isPast={isPast} editing={editing} onClose={onClose} />
      ) : (
        <BulkForm kind={kind} isProposed={editing.mode === 'propose'} unsaved={editing.edited.edits.size} {...props} />
      )}
    </ModalDialog>
  );
}

type BulkFormProps = Omit<BulkDialogProps, 'editing' | 'isPast'> & { isProposed: boolean; unsaved: number };

function BulkForm({ kind, isProposed, narrowing, unsaved, tables, ...props }: BulkFormProps) {
  const { data: matches, error, refetch } = useMatches(props.table, narrowing);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  const form = { ...props, matches, onMoved: () => void refetch() };
  return (
    <div className={formStyles.form}>
      <MatchedRows narrowing={narrowing} matches={matches} unsaved={unsaved} />
      {isProposed ? (
        <ProposeAll {...form} kind={kind} tables={tables} />
      ) : kind === 'change' ? (
        <ChangeAll {...form} tables={tables} />
      ) : (
        <DeleteAll {...form} />
      )}
    </div>
  );
}

function Refused({ isPast, editing, onClose }: Pick<BulkDialogProps, 'isPast' | 'editing' | 'onClose'>) {
  return (
    <div className={formStyles.form}>
      {isPast ? (
        <p>
          <Trans>The past is read only. Go back to now to change rows.</Trans>
        </p>
      ) : (
        <p>{editing.refusal ?? <Trans>You may not change the rows of this table.</Trans>}</p>
      )}
      <div className={formStyles.actions}>
        <Button onPress={onClose}>
          <Trans>Close</Trans>
        </Button>
      </div>
    </div>
  );
}
