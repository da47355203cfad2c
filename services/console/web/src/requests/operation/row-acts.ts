// What one may do to an operation in the list, and what the list asks before it is done. The
// functions are the same at every render, so that one decision doesn't draw all rows again.
import type { Verb } from '../../parts/review/verb.ts';

/** `decide`: approvers, while it is under review. `edit`: its creator, while it is a draft. */
export type May = 'decide' | 'edit' | undefined;

/** What a person is asked about an operation: a reason, or a value of their own for a column. */
export type Asked = { id: number } & ({ verb: Verb } | { column: string });

export type Side = 'mine' | 'theirs' | { value: unknown };

/** A conflict of a cell, or, without a column, of the row as a whole. */
export type Settled = { id: number; column: string | undefined; side: Side };

export type RowActs = {
  setCurrent: (id: number) => void;
  /** Opens the details of an operation; without one, closes them. */
  open: (id: number | undefined) => void;
  select: (id: number, isRange: boolean) => void;
  /** Decides at once, or asks for the reason first. */
  decide: (id: number, verb: Verb) => void;
  /** Decides with the reason that was given. */
  decideFor: (id: number, verb: Verb, reason: string) => void;
  settle: (settled: Settled) => void;
  ask: (asked: Asked | undefined) => void;
  takeOut: (ids: number[]) => void;
};
