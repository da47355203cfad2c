import { Plural, useLingui } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import { Eye, GitPullRequestArrow } from 'lucide-react';
import type { Schemas } from '../../api/client.ts';
import styles from '../../parts/page.module.css';
import { Person } from '../../parts/person.tsx';
import { Time } from '../../parts/time.tsx';
import { countsOf } from '../request-counts.ts';
import { useRequestWords } from '../request-words.ts';
import listStyles from './list.module.css';
import type { ListedRequest } from './list-queries.ts';

type RequestLineProps = { request: ListedRequest; isBranchShown: boolean };

/** A change request in a list: what it is, whose, and what it does to which tables. */
export function RequestLine({ request, isBranchShown }: RequestLineProps) {
  const { status } = useRequestWords();
  const { name, style } = status[request.status];
  const { with_problems: problems } = request.counts;
  return (
    <Link to="/requests/$id" params={{ id: String(request.id) }} className={styles.line}>
      <GitPullRequestArrow size={18} aria-hidden />
      <span className={styles.text}>
        <span className={styles.name}>{request.title}</span> <span className={`${styles.pill} ${style}`}>{name}</span>
        <span className={styles.note}>
          #{request.id} · <Person id={request.created_by} />
          {isBranchShown && ` · ${request.branch.name}`}
          {request.table_definitions.map((table) => ` · ${table.name} ${countsOf(table)}`)}
          {problems > 0 && (
            <span className={listStyles.problems}>
              {' · '}
              <Plural value={problems} one="# problem or conflict" other="# problems or conflicts" />
            </span>
          )}
        </span>
      </span>
      <span className={styles.end}>
        <Time instant={request.updated_at} />
      </span>
    </Link>
  );
}

const pages = {
  change_request: '/requests/$id',
  deployment: '/deployments/$id',
  promotion: '/promotions/$id',
} as const;

/** What waits besides change requests: deployments and promotions. */
export function WaitingLine({ item }: { item: Schemas['InboxItem'] }) {
  const { t } = useLingui();
  const kinds = { change_request: t`change request`, deployment: t`deployment`, promotion: t`promotion` };
  return (
    <Link to={pages[item.kind]} params={{ id: String(item.id) }} className={styles.line}>
      <Eye size={18} aria-hidden />
      <span className={styles.text}>
        <span className={styles.name}>{item.title ?? `${kinds[item.kind]} #${item.id}`}</span>
        <span className={styles.note}>
          {kinds[item.kind]} #{item.id} · <Person id={item.created_by} /> · {item.branch_name}
        </span>
      </span>
      <span className={styles.end}>
        <Time instant={item.updated_at} />
      </span>
    </Link>
  );
}
