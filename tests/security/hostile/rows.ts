// The table of hostile input: a row for each class, with the inputs of its family and what holds
// after them.

import type { Answer } from './wire.ts';
import type { World } from './world.ts';

/** One input, and the answers to it that are safe. */
export type Case = {
  name: string;
  bytes: string | Buffer;
  status: number | readonly number[];
  /** Is in the answer's body. */
  says?: string | RegExp;
  /** Patterns of headers of the answer. */
  headers?: Record<string, RegExp>;
  /** A further check of the answer: returns the problem. */
  wrong?(answer: Answer): string | undefined;
};

export type Row = {
  /** Of the class; inputs of one kind are one row. */
  id: string;
  what: string;
  /** Some of the inputs are valid, so the attacker's own account may change. */
  writes?: true;
  /** None of the inputs takes a call of the allowance. */
  free?: true;
  cases(world: World): Case[] | Promise<Case[]>;
  /** A further check when all inputs are answered. */
  after?(world: World): Promise<void>;
};

/** The same inputs one after the other, named by what differs. */
export const each = <T>(
  values: readonly T[],
  make: (value: T) => Omit<Case, 'name'>,
  name = String as (v: T) => string,
) => values.map((value): Case => ({ name: name(value).slice(0, 120), ...make(value) }));
