// The tables of the branch by their domains.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import { useOfBranch } from '../address/use-branch.ts';
import { type Table, tablesQuery } from '../api/queries.ts';
import { Button } from '../parts/button.tsx';
import styles from '../parts/page.module.css';
import { Page } from '../parts/page.tsx';
import { SearchBox } from '../parts/search-box.tsx';
import { EmptyState, ErrorState, Skeleton } from '../parts/states.tsx';
import { NoTables } from './no-tables.tsx';
import { TableLine } from './table-line.tsx';

export function TablesPage() {
  const { t } = useLingui();
  const [typed, setTyped] = useState('');
  const { data, error, retry } = useOfBranch(tablesQuery);
  return (
    <Page
      title={t`Tables`}
      note={data && <Plural value={data.length} one="# table you may view" other="# tables you may view" />}
      actions={<SearchBox label={t`Filter tables`} value={typed} onChange={setTyped} />}
    >
      {error ? (
        <ErrorState error={error} onRetry={retry} />
      ) : data ? (
        <Domains tables={data} typed={typed} onClear={() => setTyped('')} />
      ) : (
        <Skeleton lines={8} />
      )}
    </Page>
  );
}

function Domains({ tables, typed, onClear }: { tables: Table[]; typed: string; onClear: () => void }) {
  if (tables.length === 0) return <NoTables />;
  const found = tables.filter((table) => isFound(table, typed));
  if (found.length === 0)
    return (
      <EmptyState
        title={<Trans>No table matches “{typed}”</Trans>}
        action={
          <Button onPress={onClear}>
            <Trans>Show all tables</Trans>
          </Button>
        }
      />
    );
  const domains = [...Map.groupBy(found, ({ domain }) => domain.name)].toSorted(([a], [b]) => a.localeCompare(b));
  return domains.map(([name, ofDomain]) => (
    <section key={name} className={styles.section} aria-label={name}>
      <h2>{name}</h2>
      <ul className={styles.list}>
        {ofDomain.map((table) => (
          <li key={table.id}>
            <TableLine table={table} />
          </li>
        ))}
      </ul>
    </section>
  ));
}

function isFound({ name, key, description, domain }: Table, typed: string): boolean {
  const wanted = typed.trim().toLowerCase();
  return [name, key, description ?? '', domain.name].some((text) => text.toLowerCase().includes(wanted));
}
