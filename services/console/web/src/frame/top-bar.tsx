import { useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Inbox, Search } from 'lucide-react';
import { useBranch } from '../address/use-branch.ts';
import { inboxQuery, meQuery } from '../api/queries.ts';
import { BranchMenu } from './branch-menu.tsx';
import styles from './frame.module.css';
import icon from './icon.svg';
import { PersonMenu } from './person-menu.tsx';

type TopBarProps = { onSearch: () => void };

export function TopBar({ onSearch }: TopBarProps) {
  const { t } = useLingui();
  const { data: me } = useQuery(meQuery);
  const { branch } = useBranch();
  return (
    <header className={styles.bar} data-beside-main={branch && !branch.is_default ? '' : undefined}>
      <Link to="/" className={styles.home}>
        <img src={icon} alt="" />
        <span>{me?.account.name ?? 'Almanac'}</span>
      </Link>
      <BranchMenu />
      <button type="button" className={styles.search} onClick={onSearch}>
        <Search size={15} aria-hidden />
        <span>{t`Search or run a command`}</span>
        <kbd>{isApple() ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <InboxLink />
      <PersonMenu />
    </header>
  );
}

function InboxLink() {
  const { t } = useLingui();
  const { data: inbox } = useQuery(inboxQuery);
  const count = inbox?.data.length ?? 0;
  return (
    <Link to="/" hash="inbox" className={styles.bell} aria-label={t`Inbox: ${count} open`} title={t`Inbox`}>
      <Inbox size={18} aria-hidden />
      {count > 0 && <span className={styles.count}>{count > 99 ? '99+' : count}</span>}
    </Link>
  );
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.platform);
}
