import { useLingui } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import { CircleHelp, GitPullRequestArrow, House, Search, Table2 } from 'lucide-react';
import styles from './frame.module.css';

type RailProps = { onSearch: () => void; onHelp: () => void };

/** The parts of the console: at the side, and at the foot of a phone. */
export function Rail({ onSearch, onHelp }: RailProps) {
  const { t } = useLingui();
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
