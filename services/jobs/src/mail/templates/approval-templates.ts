// Mails about deployments and promotions: to approvers when one waits for approval or is abandoned,
// to its creator when it is decided.
import { z } from 'zod';
import { type Template, template } from './template.ts';

const nouns = ['deployment', 'promotion'] as const;
type Noun = (typeof nouns)[number];

const count = z.number().int().min(0);
const change = z.enum(['new', 'modified', 'deleted']);
const table = z.object({
  name: z.string(),
  change,
  /** The first columns that change, with what changes about them. */
  columns: z.array(z.object({ name: z.string(), change, attributes: z.array(z.string()) })),
});
const values = z.object({
  id: count,
  /** The user who acted; empty: the service itself, or a deleted user. */
  by: z.string(),
  /** The branch that changes. */
  branch: z.string(),
  /** Of a promotion: the branch that the changes come from. */
  from_branch: z.string().optional(),
  comment: z.string().nullable(),
  changes: z.object({ new: count, modified: count, deleted: count }),
  /** The first tables that change; metadata of the previous release does not send them. */
  tables: z.array(table).default([]),
});
const decided = values.extend({
  outcome: z.enum(['deployed', 'promoted', 'failed', 'rejected']),
  reasons: z.array(z.string()),
});
type Values = z.infer<typeof values>;

const maxQuoteLength = 1000;
/** A mail lists the first reasons. */
export const maxReasons = 10;

/** The beginning of a text that is too long for a mail. */
export const truncate = (text: string) => {
  const letters = [...text];
  return letters.length <= maxQuoteLength ? text : `${letters.slice(0, maxQuoteLength).join('')} …`;
};

const words = { new: 'new', modified: 'changed', deleted: 'deleted' };
const kinds = change.options;

// The number of tables, then a line for each of the first: `Countries, changed: new capital;
// changed name (length).`
function summary({ changes, tables }: Values): string[] {
  const counts = kinds.filter((kind) => changes[kind] > 0).map((kind) => `${changes[kind]} ${words[kind]}`);
  const total = kinds.reduce((sum, kind) => sum + changes[kind], 0);
  const isCut = tables.length > 0 && tables.length < total;
  return [
    `Tables: ${counts.join(', ') || 'none changed'}.`,
    ...tables.map((table) => truncate(tableInShort(table))),
    ...(isCut ? [`… and ${total - tables.length} more.`] : []),
  ];
}

function tableInShort({ name, change, columns }: z.infer<typeof table>): string {
  const title = `${name}, ${words[change]}`;
  if (change === 'deleted') return `${title}.`;
  const parts = kinds.flatMap((kind) => {
    const names = columns
      .filter((column) => column.change === kind)
      .map((column) => (kind === 'modified' ? `${column.name} (${column.attributes.join(', ')})` : column.name));
    return names.length === 0 ? [] : [`${words[kind]} ${names.join(', ')}`];
  });
  return parts.length === 0 ? `${title}.` : `${title}: ${parts.join('; ')}.`;
}

const quoted = ({ comment }: Values) => (comment ? [`The comment: ${truncate(comment)}`] : []);
const actor = ({ by }: Values) => by || 'Someone';

const direction = ({ branch, from_branch }: Values) =>
  from_branch === undefined ? `to the branch ${branch}` : `from the branch ${from_branch} to ${branch}`;

const see = (noun: Noun) => ({
  label: `The ${noun} over the API`,
  path: (given: unknown) => `/api/v1/${noun}s/${(given as Values).id}`,
  page: { label: `Review the ${noun}`, path: (given: unknown) => `/${noun}s/${(given as Values).id}` },
});

const templatesOf = (noun: Noun): Record<string, Template> => ({
  [`${noun}_requested`]: template({
    values,
    see: see(noun),
    write: ({ person, account }, given) => ({
      subject: `A ${noun} to ${given.branch} waits for your approval`,
      before: [
        `Hello ${person},`,
        `${actor(given)} asks you to approve ${noun} ${given.id} of ${account}, ${direction(given)}.`,
        ...summary(given),
        ...quoted(given),
      ],
    }),
  }),

  [`${noun}_decided`]: template({
    values: decided,
    see: see(noun),
    write: ({ person, account }, given) => ({
      subject:
        given.outcome === 'failed'
          ? `Your ${noun} to ${given.branch} failed`
          : `Your ${noun} to ${given.branch} was ${given.outcome}`,
      before: [
        `Hello ${person},`,
        given.outcome === 'failed'
          ? `Your ${noun} ${given.id} of ${account}, ${direction(given)}, failed; nothing was changed. It can be tried again.`
          : `${actor(given)} has ${given.outcome} your ${noun} ${given.id} of ${account}, ${direction(given)}.`,
        ...summary(given),
        ...given.reasons.slice(0, maxReasons).map(truncate),
        ...quoted(given),
      ],
    }),
  }),

  [`${noun}_abandoned`]: template({
    values,
    see: see(noun),
    write: ({ person, account }, given) => ({
      subject: `A ${noun} to ${given.branch} was abandoned`,
      before: [
        `Hello ${person},`,
        `${actor(given)} has abandoned ${noun} ${given.id} of ${account}, ${direction(given)}. You need not do anything about it.`,
        ...quoted(given),
      ],
    }),
  }),
});

/** By name: `<noun>_<requested | decided | abandoned>`. */
export const approvalTemplates: Record<string, Template> = Object.assign({}, ...nouns.map(templatesOf));
