// What a change does to a table, and what blocks it, in the shape of answers (design 3.5).
import { z } from 'zod';

const changeSchema = z.enum(['new', 'modified', 'deleted', 'unchanged']);
const attributeSchema = z
  .object({ name: z.string(), from: z.unknown(), to: z.unknown() })
  .meta({ id: 'AttributeChange' });
const countedSchema = z.object({ message: z.string(), rows: z.int() }).meta({ id: 'Finding' });
const columnDiffSchema = z
  .object({ name: z.string(), change: changeSchema, attributes: z.array(attributeSchema) })
  .meta({ id: 'ColumnDiff' });

export const tableDiffSchema = z
  .object({
    table_definition_id: z.int(),
    key: z.string(),
    name: z.string(),
    change: changeSchema,
    attributes: z.array(attributeSchema),
    columns: z.array(columnDiffSchema),
    statements: z.array(z.string()),
    warnings: z.array(countedSchema).meta({ description: 'What would be lost, with the rows concerned.' }),
    blockers: z.array(countedSchema).meta({ description: 'What blocks the change, with the rows concerned.' }),
  })
  .meta({ id: 'TableDiff' });
export type TableDiff = z.infer<typeof tableDiffSchema>;

export const violationSchema = z
  .object({
    table: z.string().meta({ description: 'The name of the table.' }),
    message: z.string(),
    rows: z.int().meta({ description: 'The rows concerned; 0 when it is not about rows.' }),
  })
  .meta({ id: 'Violation' });
export type Violation = z.infer<typeof violationSchema>;

type Blocked = { name: string; blockers: { message: string; rows: number }[] };

/** The blockers of all tables. */
export function violationsOf(diffs: Blocked[]): Violation[] {
  return diffs.flatMap(({ name, blockers }) => blockers.map(({ message, rows }) => ({ table: name, message, rows })));
}

/** A sentence for each violation, with the number of rows concerned. */
export const describeViolations = (violations: Violation[]): string[] =>
  violations.map(
    ({ table, message, rows }) => `${table}: ${message}${rows > 0 ? ` (${rows} ${rows === 1 ? 'row' : 'rows'})` : ''}`,
  );
