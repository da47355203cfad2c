// What stands in the way of a change, as rehearsals answer it: every blocker of every table, in one list.
import { z } from 'zod';

export const violationSchema = z.object({
  table: z.string().meta({ description: 'The name of the table.' }),
  message: z.string(),
  rows: z.int().meta({ description: 'The rows concerned; 0 when it is not about rows.' }),
});
export type Violation = z.infer<typeof violationSchema>;

type Blocked = { name: string; blockers: { message: string; rows: number }[] };

/** The blockers of all tables. */
export function violationsOf(diffs: Blocked[]): Violation[] {
  return diffs.flatMap(({ name, blockers }) => blockers.map(({ message, rows }) => ({ table: name, message, rows })));
}
