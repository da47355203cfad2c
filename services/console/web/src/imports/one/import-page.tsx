// One import: how far it is, what became of each of its tables, and what has happened to it.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { tablesQuery } from '../../api/queries.ts';
import type { ChangeKind } from '../../diff/change-kinds.ts';
import pageStyles from '../../parts/page.module.css';
import { Page } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { type ImportDetails, importQuery } from '../queries.ts';
import { ImportFacts } from './import-facts.tsx';
import { ImportStory } from './import-story.tsx';
import { ImportedTable } from './imported-table.tsx';

export function ImportPage() {
  const { t } = useLingui();
  const id = Number(useParams({ from: '/imports/$id' }).id);
  const isId = Number.isSafeInteger(id) && id > 0;
  const { data: given, error, refetch } = useQuery({ ...importQuery(id), enabled: isId });
  if (!isId)
    return (
      <EmptyState
        title={<Trans>There is no such import</Trans>}
        action={
          <Link to="/imports">
            <Trans>All imports</Trans>
          </Link>
        }
      />
    );
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!given)
    return (
      <Page title={t`Import ${id}`}>
        <Skeleton lines={8} />
      </Page>
    );
  return <OpenImport given={given} />;
}

function OpenImport({ given }: { given: ImportDetails }) {
  const { t } = useLingui();
  const { kind, of } = useSearch({ from: '/imports/$id' });
  const navigate = useNavigate({ from: '/imports/$id' });
  const { data: tables } = useQuery(tablesQuery(given.branch_id));
  const names = given.import_tables.map(({ table_definition_id: id, table_definition_key: key }) => {
    return tables?.find((table) => table.id === id)?.name ?? key;
  });
  const show = (of: number, kind: ChangeKind | undefined) =>
    void navigate({ search: (search) => ({ ...search, of, kind }), replace: true });
  return (
    <Page title={names.length === 0 ? t`Import ${given.id}` : t`Import of ${names.join(', ')}`}>
      <ImportFacts given={given} />
      {given.import_tables.length === 0 && (
        <EmptyState title={<Trans>No table was added to this import</Trans>}>
          <Trans>It was opened, but its upload did not get that far.</Trans>
        </EmptyState>
      )}
      {given.import_tables.map((table) => (
        <section key={table.id} className={pageStyles.section}>
          <ImportedTable
            given={given}
            table={table}
            kind={of === table.id ? kind : undefined}
            onKind={(chosen) => show(table.id, chosen)}
          />
        </section>
      ))}
      <ImportStory actions={given.actions} />
    </Page>
  );
}
