// A change request that is made of changes to a table: what is said of it, and how it is made.
import { Trans } from '@lingui/react/macro';
import { useNavigate } from '@tanstack/react-router';
import { client } from '../api/client.ts';
import type { Table } from '../api/queries.ts';
import { useAct } from '../api/use-act.ts';
import { CheckField, TextField } from '../parts/form/fields.tsx';

type Proposal = { title: string; comment: string; isSent: boolean };

/** `autoFocus`: no other field comes before them. */
export function ProposalFields({ autoFocus }: { autoFocus: boolean }) {
  return (
    <>
      <TextField
        name="title"
        label={<Trans>Title</Trans>}
        help={<Trans>What this is about, for those who approve it</Trans>}
        maxLength={255}
        autoFocus={autoFocus}
        isRequired
      />
      <TextField name="comment" label={<Trans>Reason</Trans>} isLong />
      <CheckField
        name="send"
        label={<Trans>Send for review now</Trans>}
        help={<Trans>Otherwise it stays a draft that only you see.</Trans>}
        isChecked
      />
    </>
  );
}

/** What these fields say. */
export const readProposal = ({ title = '', comment = '', send }: Record<string, string>): Proposal => ({
  title,
  comment,
  isSent: send === 'on',
});

/** Adds operations to a draft; answers how many of them have problems. */
type Fill = (requestId: number) => Promise<number>;

/** Makes a change request, sends it for review unless it has problems, and goes to its page. */
export function usePropose(table: Table, onDone?: () => void) {
  const navigate = useNavigate();
  return useAct(({ fill, proposal }: { fill: Fill; proposal: Proposal }) => makeRequest(table, fill, proposal), {
    changes: [['change_requests'], ['inbox']],
    onDone: (id) => {
      onDone?.();
      void navigate({ to: '/requests/$id', params: { id: String(id) } });
    },
  });
}

// A request that could not be filled is cancelled: it would lie among the drafts for ever.
async function makeRequest(table: Table, fill: Fill, { title, comment, isSent }: Proposal): Promise<number> {
  const description = comment.trim() === '' ? null : comment;
  const { id } = await client.post('/change_requests', {
    body: { branch_id: table.branch_id, change_request: { title, description } },
  });
  const params = { path: { id } };
  try {
    const problems = await fill(id);
    if (isSent && problems === 0)
      await client.post('/change_requests/{id}/send_request', { params, body: { comment: description } });
  } catch (error) {
    await client.post('/change_requests/{id}/cancel', { params }).catch(() => undefined);
    throw error;
  }
  return id;
}
