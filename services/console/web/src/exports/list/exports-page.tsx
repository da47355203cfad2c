// The exports of the branch, the newest first; those that run are followed.
import { Trans, useLingui } from '@lingui/react/macro';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useBranch } from '../../address/use-branch.ts';
import { LineList } from '../../parts/blocks/line-list.tsx';
import { Button } from '../../parts/button.tsx';
import { StateMenu } from '../../parts/files/state-menu.tsx';
import { Page } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { type ExportState, exportStates } from '../export-address.ts';
import { useExportWords } from '../export-words.ts';
import styles from '../exports.module.css';
import { NewExportDialog } from '../form/new-export-dialog.tsx';
import { exportsQuery } from '../queries.ts';
import { ExportLine } from './export-line.tsx';

export function ExportsPage() {
  const { t } = useLingui();
  const { state } = useSearch({ from: '/exports' });
  const { branch, error, retry } = useBranch();
  const [isNew, setIsNew] = useState(false);
  return (
    <Page
      title={t`Exports`}
      note={branch && <Trans>of the branch {branch.name}; files are kept for 30 days</Trans>}
      actions={
        <div className={styles.actions}>
          <StateFilter state={state} />
          <Button kind="primary" isDisabled={!branch} onPress={() => setIsNew(true)}>
            <Trans>New export</Trans>
          </Button>
        </div>
      }
    >
      {error ? (
        <ErrorState error={error} onRetry={retry} />
      ) : branch ? (
        <Exports branchId={branch.id} state={state} onNew={() => setIsNew(true)} />
      ) : (
        <Skeleton lines={8} />
      )}
      {isNew && branch && <NewExportDialog branchId={branch.id} onClose={() => setIsNew(false)} />}
    </Page>
  );
}

function StateFilter({ state }: { state: ExportState | undefined }) {
  const words = useExportWords();
  const navigate = useNavigate({ from: '/exports' });
  const onChoose = (chosen: ExportState | undefined) =>
    void navigate({ search: (search) => ({ ...search, state: chosen }) });
  return <StateMenu words={words.state} states={exportStates} chosen={state} onChoose={onChoose} />;
}

type ExportsProps = { branchId: number; state: ExportState | undefined; onNew: () => void };

function Exports({ branchId, state, onNew }: ExportsProps) {
  const words = useExportWords();
  const query = useInfiniteQuery(exportsQuery(branchId, state));
  const { data, error, dataUpdatedAt, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = query;
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton lines={8} />;
  const exports = data.pages.flatMap((page) => page.data);
  const total = data.pages[0]?.meta.total_count ?? 0;
  if (exports.length === 0 && state !== undefined) {
    const name = words.state[state];
    return (
      <EmptyState
        title={<Trans>No export is in the state “{name}”</Trans>}
        action={
          <Link to="/exports" search={{ state: undefined }}>
            <Trans>Show all exports</Trans>
          </Link>
        }
      />
    );
  }
  if (exports.length === 0)
    return (
      <EmptyState
        title={<Trans>Nothing has been exported here</Trans>}
        action={
          <Button kind="primary" onPress={onNew}>
            <Trans>New export</Trans>
          </Button>
        }
      >
        <Trans>An export writes the rows of a table into a file, as they are at one instant.</Trans>
      </EmptyState>
    );
  return (
    <>
      <LineList items={exports}>{(one) => <ExportLine given={one} readAt={dataUpdatedAt} />}</LineList>
      {hasNextPage && (
        <div className={styles.more}>
          <Button isDisabled={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            <Trans>
              Show more: {exports.length} of {total} are shown
            </Trans>
          </Button>
        </div>
      )}
    </>
  );
}
