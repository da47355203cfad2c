// The structure of a table: the draft beside what is in service, and the way from one to the other.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useOfBranch, useTables } from '../../address/use-branch.ts';
import { AlmanacError, client } from '../../api/client.ts';
import { type Branch, definitionsQuery, type Table } from '../../api/queries.ts';
import { useAct } from '../../api/use-act.ts';
import { Notice } from '../../parts/blocks/notice.tsx';
import { Button } from '../../parts/button.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import pageStyles from '../../parts/page.module.css';
import { Page } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { type DefinitionDetails, type DraftColumn, definitionQuery, draftChanges } from '../definition/queries.ts';
import { Deployment } from '../deployment/deployment.tsx';
import { NoSuchTable } from '../head/no-such-table.tsx';
import { TableTabs } from '../head/table-tabs.tsx';
import { ColumnDialog } from './column-dialog.tsx';
import { ColumnList } from './column-list.tsx';
import { isReordered, pairColumns } from './column-pairs.ts';
import { Properties } from './properties.tsx';
import { PropertiesDialog } from './properties-dialog.tsx';
import { RemoveColumn, RemoveTable } from './remove-dialogs.tsx';
import styles from './structure.module.css';

export function StructurePage() {
  const { t } = useLingui();
  const { key } = useParams({ from: '/t/$key/structure' });
  const { branch, ...draft } = useOfBranch((branchId) => definitionQuery(branchId, key));
  const tables = useTables();
  const error = draft.error ?? tables.error;
  if (draft.error instanceof AlmanacError && draft.error.status === 404)
    return (
      <NoSuchTable tableKey={key}>
        <Trans>It has no draft on the branch {branch?.name}, or you may not see it.</Trans>
      </NoSuchTable>
    );
  if (error)
    return (
      <ErrorState
        error={error}
        onRetry={() => {
          draft.retry();
          tables.retry();
        }}
      />
    );
  if (!branch || !draft.data || !tables.data)
    return (
      <Page title={t`Structure`}>
        <Skeleton lines={10} />
      </Page>
    );
  const deployed = tables.data.find(({ id }) => id === draft.data?.id);
  return <Structure key={draft.data.id} branch={branch} definition={draft.data} deployed={deployed} />;
}

type StructureProps = { branch: Branch; definition: DefinitionDetails; deployed: Table | undefined };
type Opened = { kind: 'properties' | 'remove' | 'add' } | { kind: 'edit' | 'take-out'; column: DraftColumn };

function Structure({ branch, definition, deployed }: StructureProps) {
  const { t } = useLingui();
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const { data: drafts = [] } = useQuery(definitionsQuery(branch.id));
  const { id, name, domain, column_definitions: columns, can, can_not } = definition;
  const before = deployed?.column_definitions ?? [];
  const canChange = can?.includes('update') ?? false;
  const tables = drafts.length > 0 ? drafts : [definition];
  const nameOf = (tableId: number) => drafts.find((one) => one.id === tableId)?.name ?? t`table ${tableId}`;
  const move = useAct(
    ({ column, place }: { column: DraftColumn; place: number }) => {
      const params = { path: { id: column.id } };
      return client.patch('/column_definitions/{id}', { params, body: { column_definition: { position: place } } });
    },
    { changes: draftChanges },
  );
  const removal = can?.includes(deployed ? 'remove' : 'delete') ?? false;
  return (
    <Page
      title={name}
      note={
        <Trans>
          {domain.name} · on the branch {branch.name}
        </Trans>
      }
      actions={<TableTabs tableKey={definition.key} isDeployed={deployed !== undefined} />}
    >
      {!canChange && can_not?.update && <Notice>{can_not.update}</Notice>}
      <section className={pageStyles.section} aria-labelledby="table-title">
        <div className={pageStyles.sectionHead}>
          <h2 id="table-title">
            <Trans>Table</Trans>
          </h2>
          {canChange && (
            <span className={pageStyles.tools}>
              <Button onPress={() => setOpened({ kind: 'properties' })}>
                <Trans>Change…</Trans>
              </Button>
              {removal ? (
                <Button onPress={() => setOpened({ kind: 'remove' })}>
                  <Trans>Remove…</Trans>
                </Button>
              ) : (
                <span className={styles.note}>{can_not?.[deployed ? 'remove' : 'delete']}</span>
              )}
            </span>
          )}
        </div>
        <Properties definition={definition} deployed={deployed} />
      </section>
      <section className={pageStyles.section} aria-labelledby="columns-title">
        <div className={pageStyles.sectionHead}>
          <h2 id="columns-title">
            <Trans>Columns</Trans>
          </h2>
          {canChange && (
            <Button onPress={() => setOpened({ kind: 'add' })}>
              <Plus size={16} aria-hidden />
              <Trans>Add a column…</Trans>
            </Button>
          )}
        </div>
        <Refusal error={move.error} />
        {columns.length + before.length === 0 ? (
          <EmptyState title={<Trans>This table has no columns yet</Trans>}>
            <Trans>It takes at least one column of a key to be deployed.</Trans>
          </EmptyState>
        ) : (
          <ColumnList
            pairs={pairColumns(columns, before)}
            isDeployed={deployed !== undefined}
            nameOf={nameOf}
            acts={
              canChange
                ? {
                    onEdit: (column) => setOpened({ kind: 'edit', column }),
                    onRemove: (column) => setOpened({ kind: 'take-out', column }),
                    onMove: (column, place) => move.mutate({ column, place }),
                  }
                : undefined
            }
          />
        )}
        {isReordered(columns, before) && (
          <p className={styles.note}>
            <Trans>The columns stand in another order than in service.</Trans>
          </p>
        )}
      </section>
      <Deployment definition={definition} />
      {opened?.kind === 'properties' && <PropertiesDialog definition={definition} onClose={close} />}
      {opened?.kind === 'remove' && <RemoveTable definition={definition} onClose={close} />}
      {opened?.kind === 'add' && <ColumnDialog tableId={id} tables={tables} onClose={close} />}
      {opened?.kind === 'edit' && <ColumnDialog tableId={id} column={opened.column} tables={tables} onClose={close} />}
      {opened?.kind === 'take-out' && (
        <RemoveColumn column={opened.column} isDeployed={deployed !== undefined} onClose={close} />
      )}
    </Page>
  );
}
