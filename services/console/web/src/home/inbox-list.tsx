import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleAlert, CircleCheck, CornerUpLeft, Eye } from 'lucide-react';
import type { Schemas } from '../api/client.ts';
import { inboxQuery } from '../api/queries.ts';
import styles from '../parts/page.module.css';
import { Person } from '../parts/person.tsx';
import { EmptyState, ErrorState, Skeleton } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';

type Item = Schemas['InboxItem'];

const icons = { approval: Eye, changes_requested: CornerUpLeft, approved: CircleCheck, failed: CircleAlert };

export function InboxList() {
  const { data, error, refetch } = useQuery(inboxQuery);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton lines={3} />;
  if (data.data.length === 0)
    return (
      <EmptyState title={<Trans>Nothing waits for you</Trans>}>
        <Trans>Requests to review appear here, and your own that came back, failed or may be applied.</Trans>
      </EmptyState>
    );
  return (
    <ul className={styles.list}>
      {data.data.map((item) => (
        <li key={`${item.kind}:${item.id}`}>
          <InboxLine item={item} />
        </li>
      ))}
    </ul>
  );
}

function InboxLine({ item }: { item: Item }) {
  const { t } = useLingui();
  const Icon = icons[item.reason];
  const kinds = { change_request: t`change request`, deployment: t`deployment`, promotion: t`promotion` };
  const reasons = {
    approval: t`to review`,
    changes_requested: t`came back with wishes`,
    approved: t`approved, may be applied`,
    failed: t`failed`,
  };
  const content = (
    <>
      <Icon size={18} aria-hidden />
      <span className={styles.text}>
        <span className={styles.name}>{item.title ?? `${kinds[item.kind]} #${item.id}`}</span>
        <span className={styles.note}>
          {reasons[item.reason]} · {kinds[item.kind]} · {item.branch_name} · <Person id={item.created_by} />
        </span>
      </span>
      <span className={styles.end}>
        <Time instant={item.updated_at} />
      </span>
    </>
  );
  const pages = {
    change_request: '/requests/$id',
    deployment: '/deployments/$id',
    promotion: '/promotions/$id',
  } as const;
  return (
    <Link to={pages[item.kind]} params={{ id: String(item.id) }} className={styles.line}>
      {content}
    </Link>
  );
}
