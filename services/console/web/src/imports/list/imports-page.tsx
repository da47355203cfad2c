// The imports of the branch, the newest first; those that run are followed.
import { Trans, useLingui } from '@lingui/react/macro';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ListFilter } from 'lucide-react';
import { useBranch } from '../../address/use-branch.ts';
import { Button, buttonLook } from '../../parts/button.tsx';
import { ChoiceMenu } from '../../parts/choice-menu.tsx';
import pageStyles from '../../parts/page.module.css';
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
          <StateMenu state={state} />
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

function StateMenu({ state }: { state: ImportState | undefined }) {
  const { t } = useLingui();
  const words = useImportWords();
  const navigate = useNavigate({ from: '/imports' });
  const all = { id: 'all', name: t`all states` };
  const name = state === undefined ? all.name : words.state[state];
  const choices = [all, ...importStates.map((id) => ({ id, name: words.state[id] }))];
  const onChoose = (id: string) =>
    void navigate({ search: (search) => ({ ...search, state: importStates.find((one) => one === id) }) });
  return (
    <ChoiceMenu
      label={t`State: ${name}`}
      groups={[{ id: 'state', title: t`State`, choices, chosen: state ?? 'all', onChoose }]}
    >
      <ListFilter size={16} aria-hidden />
      {name}
    </ChoiceMenu>
  );
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
      <ul className={pageStyles.list}>
        {imports.map((one) => (
          <li key={one.id}>
            <ImportLine given={one} />
          </li>
        ))}
      </ul>
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
