// Mails about change requests: to approvers when one waits for approval, to its creator when it is
// decided or applied.
import { z } from 'zod';
import { maxReasons, truncate } from './approval-templates.ts';
import { type Template, template } from './template.ts';

const count = z.number().int().min(0);
const counts = { created: count, updated: count, deleted: count };
const table = z.object({ name: z.string(), ...counts });
const values = z.object({
  id: count,
  title: z.string(),
  /** The user who acted; empty: the service itself, an application or a deleted user. */
  by: z.string(),
  branch: z.string(),
  comment: z.string().nullable(),
  changes: z.object(counts),
  /** The first tables, of so many. */
  tables: z.array(table),
  table_count: count,
});
const decided = values.extend({
  outcome: z.enum(['approved', 'applied', 'failed', 'rejected', 'returned']),
  reasons: z.array(z.string()),
});
type Values = z.infer<typeof values>;
type Decided = z.infer<typeof decided>;

// `3 new, 1 changed rows`; an empty text for none.
function rowsInShort({ created, updated, deleted }: Values['changes']): string {
  const parts = [
    [created, 'new'],
    [updated, 'changed'],
    [deleted, 'deleted'],
  ] as const;
  return parts
    .filter(([number]) => number > 0)
    .map(([number, word]) => `${number} ${word}`)
    .join(', ');
}

const summary = ({ changes, tables, table_count }: Values): string[] => [
  `Rows: ${rowsInShort(changes) || 'none'}.`,
  ...tables.map((table) => truncate(`${table.name}: ${rowsInShort(table) || 'none'}.`)),
  ...(table_count > tables.length ? [`… and ${table_count - tables.length} more tables.`] : []),
];

const quoted = ({ comment }: Values) => (comment ? [`The comment: ${truncate(comment)}`] : []);
const actor = ({ by }: Values) => by || 'Someone';
const named = ({ id, title }: Values) => `change request ${id} “${title}”`;

const see: Template['see'] = {
  label: 'The change request over the API',
  path: (given) => `/api/v1/change_requests/${(given as Values).id}`,
  page: { label: 'Review the change request', path: (given) => `/requests/${(given as Values).id}` },
};

const subjects: Record<Decided['outcome'], string> = {
  approved: 'was approved',
  applied: 'was applied',
  failed: 'failed',
  rejected: 'was rejected',
  returned: 'needs changes',
};

function sentence(given: Decided, account: string): string {
  const what = `your ${named(given)} of ${account} on the branch ${given.branch}`;
  if (given.outcome === 'failed') return `Y${what.slice(1)} failed; nothing was changed. It can be applied again.`;
  if (given.outcome === 'returned') return `${actor(given)} asks for changes of ${what}. Change it and send it again.`;
  return `${actor(given)} has ${given.outcome} ${what}.`;
}

/** By name: `change_request_<requested | decided>`. */
export const changeRequestTemplates: Record<string, Template> = {
  change_request_requested: template({
    values,
    see,
    write: ({ person, account }, given) => ({
      subject: `A change request on ${given.branch} waits for your approval: ${given.title}`,
      before: [
        `Hello ${person},`,
        `${actor(given)} asks you to approve ${named(given)} of ${account}, on the branch ${given.branch}.`,
        ...summary(given),
        ...quoted(given),
      ],
    }),
  }),

  change_request_decided: template({
    values: decided,
    see,
    write: ({ person, account }, given) => ({
      subject: `Your change request ${subjects[given.outcome]}: ${given.title}`,
      before: [
        `Hello ${person},`,
        sentence(given, account),
        ...summary(given),
        ...given.reasons.slice(0, maxReasons).map(truncate),
        ...quoted(given),
      ],
    }),
  }),
};
