// Applies a dry run: its rows are loaded, or proposed, as the policy of the table says.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { AlmanacError, client } from '../../api/client.ts';
import { definitionsQuery } from '../../api/queries.ts';
import { useAct } from '../../api/use-act.ts';
import { Button } from '../../parts/button.tsx';
import { useNumbers } from '../../parts/files/use-numbers.ts';
import { TextField } from '../../parts/form/fields.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import { ErrorState } from '../../parts/states.tsx';
import importStyles from '../imports.module.css';
import { type ImportDetails, type ImportTable, rowCountQuery } from '../queries.ts';
import styles from './effect.module.css';
import { isMassDeletion, isTypedNumber } from './mass-deletion.ts';

type AppliedProps = { given: ImportDetails; table: ImportTable; name: string };
type ApplyPanelProps = AppliedProps & { hasCorrections: boolean };

export function ApplyPanel({ given, table, name, hasCorrections }: ApplyPanelProps) {
  const { data: definitions, error, refetch } = useQuery(definitionsQuery(given.branch_id));
  const definition = definitions?.find(({ id }) => id === table.table_definition_id);
  const { inserted = 0, updated = 0, deleted = 0 } = table.metrics ?? {};
  const count = inserted + updated + deleted;
  const { data: live, isPending } = useQuery({ ...rowCountQuery(table.table_definition_id), enabled: deleted > 0 });
  if (count > 0 && error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (count === 0 || definition === undefined || (deleted > 0 && isPending)) return null;
  const refusal = definition.can_not?.import_rows;
  if (refusal !== undefined) return <p className={importStyles.notice}>{refusal}</p>;
  if (hasCorrections)
    return (
      <p className={importStyles.notice}>
        <Trans>Check the file again with the corrected rows; then it can be applied with them.</Trans>
      </p>
    );
  return (
    <ApplyChoice
      given={given}
      table={table}
      name={name}
      count={count}
      isProposed={definition.row_policy.row_changes === 'request'}
      isMass={isMassDeletion({ deleted, live, isAllowed: table.allow_mass_delete })}
      live={live}
    />
  );
}

type Application = { as: 'rows' } | { as: 'change_request'; title?: string };
type ApplyChoiceProps = AppliedProps & {
  count: number;
  isProposed: boolean;
  isMass: boolean;
  live: number | undefined;
};

function ApplyChoice({ given, table, name, count, isProposed, isMass, live }: ApplyChoiceProps) {
  const { t } = useLingui();
  const numbers = useNumbers();
  const [hasTitle, setHasTitle] = useState(isProposed);
  const [title, setTitle] = useState(t`Import of ${name}`);
  const [typed, setTyped] = useState('');
  const act = useAct(
    async (body: Application) => {
      const path = { id: given.id, table_id: table.id };
      const applied = await client.post('/imports/{id}/tables/{table_id}/apply', { params: { path }, body });
      if (applied.change_request_id !== null) await sendForReview(applied.change_request_id);
    },
    { changes: [['imports'], ['change_requests'], ['inbox'], ['rows', table.table_definition_id]] },
  );
  const isBusy = act.isPending || act.isSuccess;
  const deleted = table.metrics?.deleted ?? 0;
  const propose = () => {
    if (hasTitle) act.mutate({ as: 'change_request', ...(title.trim() !== '' && { title: title.trim() }) });
    else setHasTitle(true);
  };
  return (
    <div className={styles.apply}>
      <Refusal error={act.error} />
      {isMass && <MassWarning deleted={numbers.count(deleted)} live={live} />}
      {isMass && !isProposed && (
        <TextField
          name="deleted"
          label={t`Type how many rows would be deleted, to apply it`}
          value={typed}
          onChange={setTyped}
          inputMode="numeric"
          autoComplete="off"
        />
      )}
      {hasTitle && (
        <TextField
          name="title"
          label={t`Title of the change request`}
          value={title}
          onChange={setTitle}
          autoFocus={!isProposed}
        />
      )}
      <div className={styles.acts}>
        {!isProposed && (
          <Button
            kind={hasTitle ? 'plain' : 'primary'}
            isDisabled={isBusy || (isMass && !isTypedNumber(typed, deleted))}
            onPress={() => act.mutate({ as: 'rows' })}
          >
            <Trans>
              Apply <Plural value={count} one="# change" other="# changes" />
            </Trans>
          </Button>
        )}
        <Button kind={hasTitle ? 'primary' : 'plain'} isDisabled={isBusy} onPress={propose}>
          {hasTitle ? (
            <Trans>
              Propose <Plural value={count} one="# change" other="# changes" />
            </Trans>
          ) : (
            <Trans>Propose as a change request…</Trans>
          )}
        </Button>
        {act.isPending && <Trans>Being applied…</Trans>}
      </div>
      <p>
        {isProposed ? (
          <Trans>Changes of this table are proposed: others approve them before they are applied.</Trans>
        ) : (
          <Trans>Nothing has changed yet. Applying loads the same file, without another upload.</Trans>
        )}
      </p>
    </div>
  );
}

// A request with problems can't be sent; its creator sees them in it.
async function sendForReview(id: number): Promise<void> {
  const sending = client.post('/change_requests/{id}/send_request', { params: { path: { id } }, body: {} });
  await sending.catch((error: unknown) => {
    if (!(error instanceof AlmanacError && error.status === 422)) throw error;
  });
}

function MassWarning({ deleted, live }: { deleted: string; live: number | undefined }) {
  const { count } = useNumbers();
  const rows = count(live ?? 0);
  return (
    <p className={`${importStyles.notice} ${importStyles.warning}`}>
      {live === undefined ? (
        <Trans>This would delete {deleted} rows.</Trans>
      ) : (
        <Trans>
          This would delete {deleted} of {rows} rows: more than half of the table.
        </Trans>
      )}
    </p>
  );
}
