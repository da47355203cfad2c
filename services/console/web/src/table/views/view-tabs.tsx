// The views to choose from: tabs, and on a phone a menu.
import { useLingui } from '@lingui/react/macro';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ChevronDown, Lock, Table2, Users } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import type { TableView } from '../../address/view.ts';
import { ChoiceMenu } from '../../parts/choice-menu.tsx';
import pageStyles from '../../parts/page.module.css';
import { useIsNarrow } from '../use-is-narrow.ts';
import { noDifference } from './state/difference.ts';
import type { View } from './view-queries.ts';
import styles from './views.module.css';

type ViewTabsProps = { tableKey: string; views: View[]; isChanged: boolean };

type Tab = { id: 'all' | number; name: string; icon: ReactNode; marks: string[] };

export function ViewTabs({ tableKey: key, views, isChanged }: ViewTabsProps) {
  const { t } = useLingui();
  const { view: chosen = 'all' } = useSearch({ from: '/t/$key' });
  const isNarrow = useIsNarrow();
  const marksOf = ({ sharing, is_default, is_own_default }: View) => [
    ...(sharing === 'shared' ? [t`shared`] : sharing === 'locked' ? [t`locked`] : []),
    ...(is_default || is_own_default ? [t`opens first`] : []),
  ];
  const tabs: Tab[] = [
    { id: 'all', name: t`All rows`, icon: isNarrow && <Table2 size={14} aria-hidden />, marks: [] },
    ...views.map((view) => ({
      id: view.id,
      name: view.name,
      icon: <SharingIcon sharing={view.sharing} />,
      marks: marksOf(view),
    })),
  ];
  if (isNarrow) return <TabMenu tabs={tabs} chosen={chosen} isChanged={isChanged} />;
  return (
    <nav className={styles.tabs} aria-label={t`Views`}>
      {tabs.map((tab) => (
        <TabLink
          key={tab.id}
          tab={tab}
          tableKey={key}
          isChosen={tab.id === chosen}
          isChanged={isChanged && tab.id === chosen}
        />
      ))}
    </nav>
  );
}

const choose =
  (view: Tab['id']) =>
  (search: TableView): TableView => ({ ...search, ...noDifference, view });

type TabLinkProps = { tab: Tab; tableKey: string; isChosen: boolean; isChanged: boolean };

function TabLink({ tab: { id, name, icon, marks }, tableKey: key, isChosen, isChanged }: TabLinkProps) {
  const { t } = useLingui();
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (isChosen) link.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [isChosen]);
  const words = [...marks, ...(isChanged ? [t`changed`] : [])].join(', ');
  return (
    <Link
      ref={link}
      to="/t/$key"
      params={{ key }}
      search={choose(id)}
      preload={false}
      // Only the address of this very view, so that another one is never marked as the current.
      activeOptions={{ exact: true, includeSearch: true }}
      aria-current={isChosen ? 'page' : undefined}
      className={styles.tab}
      title={words || undefined}
    >
      {icon}
      <span className={styles.name}>{name}</span>
      {isChanged && <span aria-hidden>●</span>}
      {words && <span className={pageStyles.hidden}>({words})</span>}
    </Link>
  );
}

function TabMenu({ tabs, chosen, isChanged }: { tabs: Tab[]; chosen: Tab['id']; isChanged: boolean }) {
  const { t } = useLingui();
  const navigate = useNavigate({ from: '/t/$key' });
  const name = tabs.find(({ id }) => id === chosen)?.name ?? t`a view that is not there`;
  return (
    <ChoiceMenu
      label={isChanged ? t`View: ${name} (changed)` : t`View: ${name}`}
      groups={[
        {
          id: 'view',
          title: t`Views`,
          choices: tabs.map((tab) => ({
            id: String(tab.id),
            name: tab.name,
            icon: tab.icon,
            note: tab.marks.join(', '),
          })),
          chosen: String(chosen),
          onChoose: (id) =>
            void navigate({ to: '.', search: choose(tabs.find((tab) => String(tab.id) === id)?.id ?? 'all') }),
        },
      ]}
    >
      <span className={styles.name}>{name}</span>
      {isChanged && <span aria-hidden>●</span>}
      <ChevronDown size={14} aria-hidden />
    </ChoiceMenu>
  );
}

function SharingIcon({ sharing }: Pick<View, 'sharing'>) {
  if (sharing === 'private') return null;
  const Icon = sharing === 'locked' ? Lock : Users;
  return <Icon size={14} aria-hidden />;
}
