// A named constraint, index, function or trigger of a deployed table.
export type TableObject = {
  kind: 'index' | 'check' | 'key' | 'foreign key' | 'function' | 'trigger';
  name: string;
  /** Changes when the object must be made anew: its text, and the types of the columns it stands on. */
  signature: string;
  create: string;
  drop: string;
  /** How it comes to a large table that people work with. */
  gently?: Gently;
};
/** `now`: without looking at a row; `later`: the rest, beside readers and writers, after the remains of an attempt that broke off. */
export type Gently = { now: string[]; remains?: string; later: string };
