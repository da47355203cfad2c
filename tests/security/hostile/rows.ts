// How the classes of hostile input are written down: one row for each, with the inputs of its family and what has to hold after them.

import type { Answer } from './wire.ts';
import type { World } from './world.ts';

/** One input, and the answers to it that are safe. */
export type Case = {
  name: string;
  bytes: string | Buffer;
  status: number | readonly number[];
  /** Stands in the answer's body. */
  says?: string | RegExp;
  /** What stands in these headers of the answer. */
  headers?: Record<string, RegExp>;
  /** What else has to be true of the answer: says what is wrong. */
  wrong?(answer: Answer): string | undefined;
};

export type Row = {
  /** Of the class; inputs of one kind are one row. */
  id: string;
  what: string;
  /** Some of the inputs are good after all, so what the attacker owns may change. */
  writes?: true;
  /** None of the inputs takes a call of the allowance. */
  free?: true;
  cases(world: World): Case[] | Promise<Case[]>;
  /** What else has to be true when all have been answered. */
  after?(world: World): Promise<void>;
};

/** The same inputs one after the other, named by what differs. */
export const each = <T>(
  values: readonly T[],
  make: (value: T) => Omit<Case, 'name'>,
  name = String as (v: T) => string,
) => values.map((value): Case => ({ name: name(value).slice(0, 120), ...make(value) }));
