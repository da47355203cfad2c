// The parts of a template.
import type { z } from 'zod';

/** Facts that every template may use. */
export type Facts = {
  /** The recipient's name, or the address when there is none. */
  person: string;
  account: string;
  /** When the button's link expires, as text; empty without a button. */
  until: string;
};

type Wording = { subject: string; before: string[]; after?: string[] };

export type Template = {
  /** The values that a message must contain; others are dropped. */
  values: z.ZodType;
  /** A link that identity makes for this mail when it is sent. */
  button?: { purpose: 'invitation' | 'password_reset'; label: string };
  /**
   * A plain address of this Almanac, when there is no button. `page`: below the address of the
   * console, where there is one; the address of the API then stands below it.
   */
  see?: {
    label: string;
    path: (values: unknown) => string;
    page?: { label: string; path: (values: unknown) => string };
  };
  /** A person waits for it at a screen: it does not queue behind other mails of the account. */
  urgent?: boolean;
  write(facts: Facts, values: unknown): Wording;
};

/** Makes a template; checks that `write` accepts the values that `values` reads. */
export const template = <V>(
  made: Omit<Template, 'values' | 'write'> & { values: z.ZodType<V> } & {
    write(facts: Facts, values: V): Wording;
  },
): Template => ({ ...made, write: (facts, values) => made.write(facts, values as V) });
