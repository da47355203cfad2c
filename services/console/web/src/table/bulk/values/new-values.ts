// The values that all matches get, read from the fields of the form. Pure.
import type { Column } from '../../../api/queries.ts';
import type { TypingHabits } from '../../../cells/typed-values.ts';
import { plainLines, readField } from '../../row/field-value.ts';

export type NewValues = {
  set: Record<string, unknown>;
  /** The columns that have no value yet, and those whose value is not JSON. */
  missing: string[];
  malformed: string[];
};

/** The name of the box that says: no value. */
export const emptyName = (column: string): string => `empty ${column}`;

/** Reads the fields of these columns; a blank one is no value only where the box is ticked. */
export function readNewValues(
  typed: Readonly<Record<string, string>>,
  columns: readonly Column[],
  habits: TypingHabits,
): NewValues {
  const values: NewValues = { set: {}, missing: [], malformed: [] };
  for (const column of columns) {
    const { name } = column;
    const text = plainLines(typed[name] ?? '');
    if (typed[emptyName(name)] !== undefined) values.set[name] = null;
    else if (text === '') values.missing.push(name);
    else
      try {
        values.set[name] = readField(text, column, habits);
      } catch {
        values.malformed.push(name);
      }
  }
  return values;
}
