/** How a change of a row is decided; `undecided` takes a decision back. */
export type Verb = 'accept' | 'reject' | 'return' | 'undecided';

/** What a verb leads to. */
export const decisionOf = {
  accept: 'accepted',
  reject: 'rejected',
  return: 'returned',
  undecided: 'undecided',
} as const satisfies Record<Verb, string>;
