/** How a change of a row is decided; `undecided` takes a decision back. */
export type Verb = 'accept' | 'reject' | 'return' | 'undecided';
