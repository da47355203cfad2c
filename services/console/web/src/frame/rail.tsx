import { useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import {
  CircleHelp,
  FileDown,
  FileUp,
  GitBranch,
  GitPullRequestArrow,
  House,
  Search,
  Settings,
  Table2,
} from 'lucide-react';
import { meQuery } from '../api/queries.ts';
import styles from './frame.module.css';

type RailProps = { onSearch: () => void; onHelp: () => void };

/** The parts of the console: at the side, and at the foot of a phone. */
export function Rail({ onSearch, onHelp }: RailProps) {
  const { t } = useLingui();
  const { data: me } = useQuery(meQuery);
  const name = (text: string) => <span className={styles.railName}>{text}</span>;
  return (
    <nav className={styles.rail} aria-label={t`Parts of the console`}>
      <Link to="/" activeOptions={{ exact: true, includeSearch: false }} title={t`Home`}>
        <House size={18} aria-hidden />
        {name(t`Home`)}
      </Link>
      <Link to="/tables" activeOptions={{ includeSearch: false }} title={t`Tables`}>
        <Table2 size={18} aria-hidden />
        {name(t`Tables`)}
      </Link>
      <Link to="/requests" activeOptions={{ includeSearch: false }} title={t`Requests`}>
        <GitPullRequestArrow size={18} aria-hidden />
        {name(t`Requests`)}
      </Link>
      <Link to="/imports" activeOptions={{ includeSearch: false }} title={t`Imports`}>
        <FileUp size={18} aria-hidden />
        {name(t`Imports`)}
      </Link>
      <Link to="/exports" activeOptions={{ includeSearch: false }} title={t`Exports`}>
        <FileDown size={18} aria-hidden />
        {name(t`Exports`)}
      </Link>
      <Link
        to="/branches"
        activeOptions={{ includeSearch: false }}
        title={t`Branches`}
        className={styles.wideOnly as string}
      >
        <GitBranch size={18} aria-hidden />
        {name(t`Branches`)}
      </Link>
      {me && (
        <Link to="/admin" activeOptions={{ includeSearch: false }} title={t`Admin`}>
          <Settings size={18} aria-hidden />
          {name(t`Admin`)}
        </Link>
      )}
      <button type="button" className={`${styles.railButton} ${styles.phoneOnly}`} onClick={onSearch}>
        <Search size={18} aria-hidden />
        {name(t`Search`)}
      </button>
      <button type="button" className={`${styles.railButton} ${styles.railEnd}`} onClick={onHelp} title={t`Help`}>
        <CircleHelp size={18} aria-hidden />
        {name(t`Help`)}
      </button>
    </nav>
  );
}
