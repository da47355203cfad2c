// What a kind of mail is made of.
import type { z } from 'zod';

/** What every template may speak of. */
export type Facts = {
  /** The recipient's name, or the address when there is none. */
  person: string;
  account: string;
  /** Until when the button's link works, in words; empty without a button. */
  until: string;
};

type Wording = { subject: string; before: string[]; after?: string[] };

export type Template = {
  /** What the message has to bring; anything else in it is left behind. */
  values: z.ZodType;
  /** A link that identity makes for this mail at the moment of sending. */
  button?: { purpose: 'invitation' | 'password_reset'; label: string };
  /** A plain address of this Almanac, where there is no button. */
  see?: { label: string; path: (values: unknown) => string };
  /** Somebody waits for it in front of a screen: not held up by what else the account sends. */
  urgent?: boolean;
  write(facts: Facts, values: unknown): Wording;
};

/** Makes a template; checks that `write` gets the values that `values` reads. */
export const template = <V>(
  made: Omit<Template, 'values' | 'write'> & { values: z.ZodType<V> } & {
    write(facts: Facts, values: V): Wording;
  },
): Template => ({ ...made, write: (facts, values) => made.write(facts, values as V) });
