// What a change request is: its title, whose it is, where, how it stands, and how it is approved.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import { Pencil } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import pageStyles from '../../parts/page.module.css';
import { useTitle } from '../../parts/page.tsx';
import { Person } from '../../parts/person.tsx';
import reviewStyles from '../../parts/review/review.module.css';
import { Time } from '../../parts/time.tsx';
import { type ChangeRequest, ended } from '../queries.ts';
import { useRequestWords } from '../request-words.ts';
import { EditDialog } from './edit-dialog.tsx';
import styles from './head.module.css';

export function Head({ request }: { request: ChangeRequest }) {
  const { t } = useLingui();
  const [isEdited, setEdited] = useState(false);
  const { name, style } = useRequestWords().status[request.status];
  useTitle(request.title);
  return (
    <header className={reviewStyles.head}>
      <div className={reviewStyles.title}>
        <h1>{request.title}</h1>
        <span className={`${pageStyles.pill} ${style}`}>{name}</span>
        {request.can.includes('send_request') && (
          <Button kind="quiet" aria-label={t`Change title and description`} onPress={() => setEdited(true)}>
            <Pencil size={16} aria-hidden />
          </Button>
        )}
      </div>
      <p className={reviewStyles.facts}>
        <span>
          #{request.id} · <Person id={request.created_by} /> · {request.branch.name}
        </span>
        <span>
          <Trans>
            changed <Time instant={request.updated_at} />
          </Trans>
        </span>
        {!ended.includes(request.status) && <Approvals request={request} />}
        {request.continues_id !== null && (
          <Link to="/requests/$id" params={{ id: String(request.continues_id) }} search={({ branch }) => ({ branch })}>
            <Trans>continues #{request.continues_id}</Trans>
          </Link>
        )}
      </p>
      {request.description && <p className={reviewStyles.text}>{request.description}</p>}
      {request.error && <Failure error={request.error} />}
      {isEdited && <EditDialog request={request} onClose={() => setEdited(false)} />}
    </header>
  );
}

/** `1 of 2 approvals`, with those who gave them, and what else the policy asks for. */
function Approvals({ request: { approvals, policy } }: { request: ChangeRequest }) {
  const current = approvals.filter(({ is_current }) => is_current);
  const given = current.length;
  const required = policy.required_approvals;
  const outdated = approvals.length - given;
  return (
    <>
      <span>
        <Plural value={required} one={`${given} of # approval`} other={`${given} of # approvals`} />
        {current.map(({ user_id }, place) => (
          <span key={user_id}>
            {place === 0 ? ': ' : ', '}
            <Person id={user_id} />
          </span>
        ))}
        {outdated > 0 && (
          <>
            {' · '}
            <Plural value={outdated} one="# of an earlier state" other="# of earlier states" />
          </>
        )}
      </span>
      {policy.self_approval && (
        <span>
          <Trans>its creator may approve it</Trans>
        </span>
      )}
      {policy.comment_required && (
        <span>
          <Trans>approval takes a comment</Trans>
        </span>
      )}
    </>
  );
}

/** Why it could not be applied: a line for each reason. */
function Failure({ error }: { error: string }) {
  const lines = error.split('\n');
  if (lines.length === 1) return <p className={pageStyles.bad}>{error}</p>;
  return (
    <details className={pageStyles.bad}>
      <summary>
        <Plural value={lines.length} one="Not applied: # reason" other="Not applied: # reasons" />
      </summary>
      <p className={styles.reasons}>{error}</p>
    </details>
  );
}
