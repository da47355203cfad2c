// The palette: goes to any table, row, change or page, and runs commands, by typing.
import { useLingui } from '@lingui/react/macro';
import { useNavigate } from '@tanstack/react-router';
import { GitPullRequest, Rows3, Search, Table2, Terminal } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Autocomplete } from 'react-aria-components/Autocomplete';
import { Header } from 'react-aria-components/Header';
import { Input } from 'react-aria-components/Input';
import { ListBox, ListBoxItem, ListBoxSection } from 'react-aria-components/ListBox';
import { SearchField } from 'react-aria-components/SearchField';
import { useBranch, useTables } from '../address/use-branch.ts';
import { useIsAdministrator } from '../admin/use-is-administrator.ts';
import type { Act } from '../keys/shortcuts.ts';
import { ModalDialog } from '../parts/modal-dialog.tsx';
import { chooseTheme } from '../styles/theme.ts';
import { recentFirst } from '../tables/recent-tables.ts';
import { type FoundChange, useFound } from './found.ts';
import { type Entry, matchEntries } from './matching.ts';
import styles from './palette.module.css';

type Item = Entry & { icon: ReactNode; run: () => void };

// More are found by typing on.
const shownTables = 50;

type PaletteProps = { onClose: () => void; onAct: (act: Act) => void };

export function Palette({ onClose, onAct }: PaletteProps) {
  const { t } = useLingui();
  const [typed, setTyped] = useState('');
  const tables = matchEntries(useTableItems(), typed).slice(0, shownTables);
  const commands = matchEntries(useCommands(onAct), typed);
  const { rows, changes, isSearching } = useFoundItems(typed);
  const sections = [
    { id: 'tables', title: t`Tables`, items: tables },
    { id: 'rows', title: t`Rows`, items: rows },
    { id: 'changes', title: t`Changes`, items: changes },
    { id: 'commands', title: t`Pages and commands`, items: commands },
  ].filter(({ items }) => items.length > 0);
  const items = sections.flatMap((section) => section.items);
  const run = (id: string) => {
    onClose();
    items.find((item) => item.id === id)?.run();
  };
  return (
    <ModalDialog label={t`Search or run a command`} onClose={onClose} bare>
      <Autocomplete inputValue={typed} onInputChange={setTyped}>
        <SearchField className={styles.field as string} aria-label={t`Search or run a command`} autoFocus>
          <Search size={18} aria-hidden />
          <Input
            placeholder={t`A table, a code, a change, a page`}
            onKeyDown={({ key, currentTarget }) => {
              // What is found after the last key has no focus yet.
              const [first] = items;
              if (key === 'Enter' && first && !currentTarget.getAttribute('aria-activedescendant')) run(first.id);
            }}
          />
          <kbd>Esc</kbd>
        </SearchField>
        <ListBox
          className={styles.list as string}
          aria-label={t`What was found`}
          selectionMode="none"
          onAction={(key) => run(String(key))}
          renderEmptyState={() => (
            <p className={styles.empty}>{isSearching ? t`Searching…` : t`Nothing is called “${typed}”.`}</p>
          )}
        >
          {sections.map(({ id, title, items }) => (
            <ListBoxSection key={id}>
              <Header className={styles.header as string}>{title}</Header>
              {items.map(({ id, name, note, icon }) => (
                <ListBoxItem key={id} id={id} textValue={name} className={styles.item as string}>
                  {icon}
                  <span>{name}</span>
                  {note && <span className={styles.note}>{note}</span>}
                </ListBoxItem>
              ))}
            </ListBoxSection>
          ))}
        </ListBox>
      </Autocomplete>
    </ModalDialog>
  );
}

/** The tables of the branch, those opened last first. */
function useTableItems(): Item[] {
  const navigate = useNavigate();
  const { data: tables = [] } = useTables();
  return recentFirst(tables).map(({ id, key, name, domain }) => ({
    id: `table:${id}`,
    name,
    note: `${domain.name} · ${key}`,
    icon: <Table2 size={16} aria-hidden />,
    run: () => void navigate({ to: '/t/$key', params: { key } }),
  }));
}

/** Rows and changes that the server finds. */
function useFoundItems(typed: string): { rows: Item[]; changes: Item[]; isSearching: boolean } {
  const navigate = useNavigate();
  const { branch } = useBranch();
  const { found, isSearching } = useFound(branch?.id, typed);
  const kindOf = useChangeKinds();
  const rows = found.rows.map(
    ({ table, tableKey, id, name }): Item => ({
      id: `row:${tableKey}:${id}`,
      name,
      note: table,
      icon: <Rows3 size={16} aria-hidden />,
      run: () => void navigate({ to: '/t/$key', params: { key: tableKey }, search: { row: id } }),
    }),
  );
  const changes = found.changes.map(
    ({ kind, id, title }): Item => ({
      id: `${kind}:${id}`,
      name: title || `${kindOf[kind].name} #${id}`,
      note: `${kindOf[kind].name} #${id}`,
      icon: <GitPullRequest size={16} aria-hidden />,
      run: () => void navigate({ to: kindOf[kind].to, params: { id: String(id) } }),
    }),
  );
  return { rows, changes, isSearching };
}

function useChangeKinds() {
  const { t } = useLingui();
  return {
    change_request: { name: t`change request`, to: '/requests/$id' },
    promotion: { name: t`promotion`, to: '/promotions/$id' },
    deployment: { name: t`deployment`, to: '/deployments/$id' },
  } as const satisfies Record<FoundChange['kind'], object>;
}

/** Pages without a key of their own. */
function usePages() {
  const { t } = useLingui();
  const isAdministrator = useIsAdministrator();
  const pages = [
    { to: '/tables/new', name: t`New table` },
    { to: '/import', name: t`Import a file` },
    { to: '/imports', name: t`Imports` },
    { to: '/exports', name: t`Exports` },
    { to: '/branches', name: t`Branches` },
    { to: '/compare', name: t`Compare branches` },
    { to: '/admin/people', name: t`People` },
    { to: '/admin/groups', name: t`Groups` },
    { to: '/admin/account', name: t`Account` },
    { to: '/admin/usage', name: t`Usage` },
    { to: '/me', name: t`Profile` },
  ] as const;
  const ofAdministrators = [
    { to: '/admin/applications', name: t`Applications` },
    { to: '/admin/audit', name: t`Audit log` },
  ] as const;
  return [...pages, ...(isAdministrator ? ofAdministrators : [])];
}

function useCommands(onAct: (act: Act) => void): Item[] {
  const { t } = useLingui();
  const navigate = useNavigate();
  const pages = usePages();
  const command = (id: string, name: string, run: () => void, note = ''): Item => ({
    id: `command:${id}`,
    name,
    note,
    icon: <Terminal size={16} aria-hidden />,
    run,
  });
  return [
    command('home', t`Home`, () => onAct('home'), 'g h'),
    command('tables', t`Tables`, () => onAct('tables'), 'g t'),
    command('requests', t`Change requests`, () => onAct('requests'), 'g r'),
    ...pages.map(({ to, name }) => command(to, name, () => void navigate({ to }))),
    command('help', t`Keyboard shortcuts`, () => onAct('help'), '?'),
    command('light', t`Light appearance`, () => chooseTheme('light')),
    command('dark', t`Dark appearance`, () => chooseTheme('dark')),
    command('docs', t`Reference of the API`, () => window.location.assign('/docs')),
  ];
}
