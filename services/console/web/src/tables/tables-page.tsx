// The tables of the branch by their domains, with those that are only drafted so far.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useTables } from '../address/use-branch.ts';
import { type Definition, definitionsQuery, type Table } from '../api/queries.ts';
import { type Domain, domainsQuery } from '../model/definition/queries.ts';
import { DomainDialog } from '../model/domains/domain-dialog.tsx';
import { DomainHead } from '../model/domains/domain-head.tsx';
import { DraftLine } from '../model/domains/draft-line.tsx';
import { Button, buttonLook } from '../parts/button.tsx';
import styles from '../parts/page.module.css';
import { Page } from '../parts/page.tsx';
import { SearchBox } from '../parts/search-box.tsx';
import { EmptyState, ErrorState, Skeleton } from '../parts/states.tsx';
import { NoTables } from './no-tables.tsx';
import { TableLine } from './table-line.tsx';
import toolStyles from './tables.module.css';

type Group = { name: string; domain: Domain | undefined; tables: Table[]; drafts: Definition[] };

export function TablesPage() {
  const { t } = useLingui();
  const [typed, setTyped] = useState('');
  const [isNewDomain, setIsNewDomain] = useState(false);
  const { branch, data, error, retry } = useTables();
  const { data: drafts } = useQuery({ ...definitionsQuery(branch?.id ?? 0), enabled: branch !== undefined });
  const { data: domains } = useQuery(domainsQuery);
  return (
    <Page
      title={t`Tables`}
      note={data && <Plural value={data.length} one="# table you may view" other="# tables you may view" />}
      actions={
        <div className={toolStyles.tools}>
          <SearchBox label={t`Filter tables`} value={typed} onChange={setTyped} />
          <Button onPress={() => setIsNewDomain(true)}>
            <Trans>New domain…</Trans>
          </Button>
          <Link to="/tables/new" className={buttonLook('primary')}>
            <Plus size={16} aria-hidden />
            <Trans>New table</Trans>
          </Link>
        </div>
      }
    >
      {error ? (
        <ErrorState error={error} onRetry={retry} />
      ) : data ? (
        <Domains
          groups={groupByDomain(data, drafts ?? [], domains ?? [])}
          changed={new Set(drafts?.filter((draft) => draft.needs_deployment).map(({ id }) => id))}
          typed={typed}
          onClear={() => setTyped('')}
        />
      ) : (
        <Skeleton lines={8} />
      )}
      {isNewDomain && <DomainDialog onClose={() => setIsNewDomain(false)} />}
    </Page>
  );
}

/** The domains by name, those without tables included. */
function groupByDomain(tables: Table[], drafts: Definition[], domains: Domain[]): Group[] {
  const groups = new Map<number, Group>(
    domains.map((domain) => [domain.id, { name: domain.name, domain, tables: [], drafts: [] }]),
  );
  const groupOf = ({ domain }: Pick<Table, 'domain'>): Group => {
    const group = groups.get(domain.id) ?? { name: domain.name, domain: undefined, tables: [], drafts: [] };
    groups.set(domain.id, group);
    return group;
  };
  for (const table of tables) groupOf(table).tables.push(table);
  for (const draft of drafts) if (draft.deployed_version === null) groupOf(draft).drafts.push(draft);
  return [...groups.values()].toSorted((a, b) => a.name.localeCompare(b.name));
}

type DomainsProps = { groups: Group[]; changed: ReadonlySet<number>; typed: string; onClear: () => void };

function Domains({ groups, changed, typed, onClear }: DomainsProps) {
  if (groups.length === 0) return <NoTables />;
  const found = typed.trim() === '' ? groups : groups.map((group) => narrow(group, typed)).filter(hasTables);
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
  return (
    <>
      {!groups.some(hasTables) && <NoTables />}
      {found.map(({ name, domain, tables, drafts }) => (
        <section key={domain?.id ?? name} className={styles.section} aria-label={name}>
          <DomainHead name={name} domain={domain} />
          {tables.length + drafts.length === 0 ? (
            <p className={toolStyles.none}>
              <Trans>no table on this branch</Trans>
            </p>
          ) : (
            <ul className={styles.list}>
              {tables.map((table) => (
                <li key={table.id}>
                  <TableLine table={table} isChanged={changed.has(table.id)} />
                </li>
              ))}
              {drafts.map((draft) => (
                <li key={draft.id}>
                  <DraftLine draft={draft} />
                </li>
              ))}
            </ul>
          )}
        </section>
      ))}
    </>
  );
}

const hasTables = ({ tables, drafts }: Group) => tables.length + drafts.length > 0;

function narrow(group: Group, typed: string): Group {
  const wanted = typed.trim().toLowerCase();
  const isFound = ({ name, key, description }: Pick<Table, 'name' | 'key' | 'description'>) =>
    [name, key, description ?? '', group.name].some((text) => text.toLowerCase().includes(wanted));
  return { ...group, tables: group.tables.filter(isFound), drafts: group.drafts.filter(isFound) };
}
