// The imports of the branch, the newest first; those that run are followed.
import { Trans, useLingui } from '@lingui/react/macro';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useBranch } from '../../address/use-branch.ts';
import { LineList } from '../../parts/blocks/line-list.tsx';
import { Button, buttonLook } from '../../parts/button.tsx';
import { StateMenu } from '../../parts/files/state-menu.tsx';
import { Page } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { type ImportState, importStates } from '../import-address.ts';
import { useImportWords } from '../import-words.ts';
import styles from '../imports.module.css';
import { importsQuery } from '../queries.ts';
import { ImportLine } from './import-line.tsx';

export function ImportsPage() {
  const { t } = useLingui();
  const { state } = useSearch({ from: '/imports' });
  const { branch, error, retry } = useBranch();
  return (
    <Page
      title={t`Imports`}
      note={branch && <Trans>of the branch {branch.name}</Trans>}
      actions={
        <div className={styles.actions}>
          <StateFilter state={state} />
          <Link to="/import" className={buttonLook('primary')}>
            <Trans>New import</Trans>
          </Link>
        </div>
      }
    >
      {error ? (
        <ErrorState error={error} onRetry={retry} />
      ) : branch ? (
        <Imports branchId={branch.id} state={state} />
      ) : (
        <Skeleton lines={8} />
      )}
    </Page>
  );
}

function StateFilter({ state }: { state: ImportState | undefined }) {
  const words = useImportWords();
  const navigate = useNavigate({ from: '/imports' });
  const onChoose = (chosen: ImportState | undefined) =>
    void navigate({ search: (search) => ({ ...search, state: chosen }) });
  return <StateMenu words={words.state} states={importStates} chosen={state} onChoose={onChoose} />;
}

function Imports({ branchId, state }: { branchId: number; state: ImportState | undefined }) {
  const words = useImportWords();
  const query = useInfiniteQuery(importsQuery(branchId, state));
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = query;
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton lines={8} />;
  const imports = data.pages.flatMap((page) => page.data);
  const total = data.pages[0]?.meta.total_count ?? 0;
  if (imports.length === 0 && state !== undefined) {
    const name = words.state[state];
    return (
      <EmptyState
        title={<Trans>No import is in the state “{name}”</Trans>}
        action={
          <Link to="/imports" search={{ state: undefined }}>
            <Trans>Show all imports</Trans>
          </Link>
        }
      />
    );
  }
  if (imports.length === 0)
    return (
      <EmptyState
        title={<Trans>Nothing has been imported here</Trans>}
        action={
          <Link to="/import" className={buttonLook('primary')}>
            <Trans>New import</Trans>
          </Link>
        }
      >
        <Trans>An import loads a spreadsheet or a file of another system into a table.</Trans>
      </EmptyState>
    );
  return (
    <>
      <LineList items={imports}>{(one) => <ImportLine given={one} />}</LineList>
      {hasNextPage && (
        <div className={styles.more}>
          <Button isDisabled={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            <Trans>
              Show more: {imports.length} of {total} are shown
            </Trans>
          </Button>
        </div>
      )}
    </>
  );
}
