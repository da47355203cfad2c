// Comments, and the field to write one.
import { Trans, useLingui } from '@lingui/react/macro';
import { useEffect, useRef } from 'react';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { TextField } from '../../parts/form/fields.tsx';
import { Form } from '../../parts/form/form.tsx';
import { Person } from '../../parts/person.tsx';
import { Time } from '../../parts/time.tsx';
import type { Comment } from '../queries.ts';
import styles from './talk.module.css';

export function CommentList({ comments }: { comments: Comment[] }) {
  return (
    <ol className={styles.entries}>
      {comments.map((comment) => (
        <li key={comment.id} className={styles.entry}>
          <CommentEntry comment={comment} />
        </li>
      ))}
    </ol>
  );
}

export function CommentEntry({ comment: { user_id, at, body } }: { comment: Comment }) {
  return (
    <>
      <p className={styles.by}>
        <strong>
          <Person id={user_id} />
        </strong>{' '}
        · <Time instant={at} />
      </p>
      <p className={styles.body}>{body}</p>
    </>
  );
}

type CommentFormProps = {
  requestId: number;
  /** Without it the comment is on the request. */
  operationId?: number | undefined;
  /** Counted up when a key asks for the field: the focus goes there. */
  asked?: number;
};

export function CommentForm({ requestId, operationId, asked = 0 }: CommentFormProps) {
  const { t } = useLingui();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (asked > 0) place.current?.querySelector('textarea')?.focus();
  }, [asked]);
  const send = useAct(
    (body: string) =>
      client.post('/change_requests/{id}/comments', {
        params: { path: { id: requestId } },
        body: { body, ...(operationId !== undefined && { operation_id: operationId }) },
      }),
    {
      changes: [
        ['change_comments', requestId],
        ['change_requests', 'one', requestId],
      ],
      onDone: () => {
        const field = place.current?.querySelector('textarea');
        place.current?.querySelector('form')?.reset();
        field?.focus();
      },
    },
  );
  return (
    <div ref={place} className={styles.form}>
      <Form
        error={send.error}
        isPending={send.isPending}
        submit={<Trans>Comment</Trans>}
        onSubmit={({ body = '' }) => send.mutate(body)}
      >
        <TextField
          name="body"
          label={operationId === undefined ? t`Comment on the request` : t`Comment on this change`}
          maxLength={10_000}
          // The plain Enter begins a line.
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return event.continuePropagation();
            if (!send.isPending) place.current?.querySelector('form')?.requestSubmit();
          }}
          isLong
          isRequired
        />
      </Form>
    </div>
  );
}
